use super::*;

#[test]
fn two_spellings_of_a_sender_have_one_name() {
    assert_eq!(variant_name("reno+partialack", "rfc").unwrap(), "newreno");
    assert_eq!(
        variant_name("newreno+iw10", "linux").unwrap(),
        variant_name("newreno", "linux").unwrap()
    );
}

#[test]
fn a_name_that_is_none_gets_the_nearest_word() {
    let message = |variant, profile| variant_name(variant, profile).unwrap_err().to_string();
    assert!(message("newreno+nooidle", "rfc").ends_with(" (did you mean `noidle`?)"));
    assert!(message("newreno+nooidle", "rfc").starts_with("variant: unknown part `nooidle` in "));
    assert!(
        message("gobackn", "rfc")
            .starts_with("variant: `gobackn` does not begin with a growth law")
    );
    assert!(message("newreno", "bsd").starts_with("profile: "));
}

#[test]
fn the_registry_is_json() {
    let rows: Vec<serde_json::Value> = serde_json::from_str(&registry()).unwrap();
    let words = REGISTRY.iter().map(|entry| entry.word).chain(FORMS.iter().map(|form| form.text));
    for word in words {
        let word = word.split('(').next().unwrap();
        assert!(rows.iter().any(|row| row["word"] == word), "{word}");
    }
    assert_eq!(rows[0]["slot"], "growth");
}

#[test]
fn a_slug_is_fit_for_a_file_name() {
    assert_eq!(variant_slug("newreno+iw3"), "newreno_iw3");
}
