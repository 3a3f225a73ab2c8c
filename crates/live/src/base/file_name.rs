//! File names of flows.

/// The file name of a flow: any character but a letter, digit, `.`, `-` or `_` becomes `_`, as does a dot in front,
/// and a name that is taken gets a number.
pub fn file_name(flow: &str, taken: &mut Vec<String>) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let stem: String = flow.chars().map(kept).collect();
    let stem = stem.strip_prefix('.').map_or_else(|| stem.clone(), |rest| format!("_{rest}"));
    let mut name = stem.clone();
    let mut n = 2;
    while taken.contains(&name) {
        name = format!("{stem}~{n}");
        n += 1;
    }
    taken.push(name.clone());
    name
}
