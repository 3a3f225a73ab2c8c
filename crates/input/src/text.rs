//! Words of people: how they are shown, and which was meant.

use ackclock_units::is_printable;

/// `text` on one line, of at most `max_chars`, with control and invisible characters escaped.
pub fn printable(text: &str, max_chars: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(4 * max_chars));
    for (i, char) in text.chars().enumerate() {
        if i == max_chars {
            shown.push('…');
            break;
        }
        if is_printable(char) {
            shown.push(char);
        } else {
            shown.extend(char.escape_default());
        }
    }
    shown
}

/// The word nearest to `word`, if one is near enough to have been meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance to a very long text costs its length times the candidate's, for nothing.
    if word.len() > 100 {
        return None;
    }
    let lower = word.to_lowercase();
    // Half of a word of four letters is another word: `time` is no `name`.
    let length = word.chars().count();
    let reach = if length > 4 { 1 + length / 4 } else { 1 };
    known
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= reach && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean ...?)` or nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}
