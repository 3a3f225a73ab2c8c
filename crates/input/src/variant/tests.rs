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
    for (written, meant) in [
        ("newreno+nooidle", "noidle"),
        ("new-reno", "newreno"),
        ("Cubic", "cubic"),
        ("bbrv2", "bbr"),
        ("newreno-sack", "newreno+sack"),
        ("newreno sack", "newreno+sack"),
        ("cubic, iw10", "cubic+iw10"),
    ] {
        let said = message(written, "rfc");
        assert!(said.starts_with("variant: unknown part `"), "{said}");
        assert!(said.contains(&format!("; did you mean `{meant}`? Known: tahoe, ")), "{said}");
    }
    assert_eq!(
        message("cubic", "Linux"),
        "profile: `Linux` is not a profile: did you mean `linux`? Known: `rfc`, `linux` or `ns2`"
    );
    assert!(
        message("gobackn", "rfc")
            .starts_with("variant: `gobackn` does not begin with a growth law")
    );
    assert!(message("newreno", "bsd").starts_with("profile: "));
}

#[test]
fn the_registry_is_json() {
    let rows: Vec<Value> = serde_json::from_str(&registry()).unwrap();
    let words = REGISTRY.iter().map(|entry| entry.word).chain(FORMS.iter().map(|form| form.text));
    for word in words {
        let word = word.split('(').next().unwrap();
        assert!(rows.iter().any(|row| row["word"] == word), "{word}");
    }
    assert_eq!(rows[0]["slot"], "growth");
}

#[test]
fn a_law_that_is_another_one_in_linux_is_told() {
    let of = |variant: &str, profile| namesake(&variant.parse().unwrap(), profile);
    // draft-ietf-ccwg-bbr-06 is `bbr`; tcp_bbr.c of Linux 6.18 is the first version, `bbr1` here.
    assert_eq!(
        of("bbr+iw20", Profile::Linux),
        Some(json!({ "law": "bbr", "source": "draft-ietf-ccwg-bbr-06", "kernels": "bbr1" }))
    );
    assert_eq!(of("bbr", Profile::Rfc), None);
    for same in ["bbr1", "cubic", "reno", "newreno", "vegas", "westwood", "tahoe"] {
        assert_eq!(of(same, Profile::Linux), None, "{same}");
    }
}

#[test]
fn a_slug_is_fit_for_a_file_name() {
    assert_eq!(variant_slug("newreno+iw3"), "newreno_iw3");
}

#[test]
fn senders_say_which_parts_they_have_and_who_chose_them() {
    let scenario = crate::from_json(
        r#"{"duration": "1 s",
            "topology": {"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"},
                "access": {"rate": "100 Mbit/s", "delay": "1 ms"}},
            "flow": [{"name": "a", "variant": "newreno", "count": 2},
                     {"name": "b", "variant": "cubic", "tcp": {"initial_window": 4}}],
            "traffic": [{"name": "web", "variant": "newreno+modern",
                "arrivals": {"kind": "poisson", "rate": "1 /s"},
                "app": {"kind": "request", "response": "10 kB"}}]}"#,
    )
    .unwrap();
    let rows: Vec<Value> = serde_json::from_str(&senders(&scenario).unwrap()).unwrap();
    let told = |n: usize, key: &str| rows[n][key].clone();
    assert_eq!(told(0, "names"), json!(["a-1", "a-2"]));
    // RFC 6582 and RFC 3390 are the defaults of `newreno` under `rfc`, and nobody asked for them.
    assert_eq!(told(0, "recovery"), "partialack");
    assert_eq!(told(0, "first_window"), "rfc3390");
    assert_eq!(told(0, "spelled"), json!([]));
    assert_eq!(told(1, "recovery"), "rack");
    assert_eq!(told(1, "first_window"), "iw4");
    assert_eq!(told(1, "spelled"), json!(["first_window"]));
    assert_eq!(told(2, "kind"), "traffic");
    assert_eq!(told(2, "written"), "newreno+modern");
    assert_eq!(told(2, "variant"), "newreno+rack+iw10");
    assert_eq!(told(2, "spelled"), json!(["recovery", "first_window"]));
}
