use proptest::prelude::*;

use ackclock_laws::growth::{AnyGrowth, Growth, LawForm, registered_laws};
use ackclock_units::Bytes;

use super::*;
use crate::recovery::{AnyRecovery, Recovery};

fn name(text: &str, profile: Profile) -> String {
    text.parse::<Variant>().unwrap().resolve(profile).unwrap().name(profile)
}

fn error(text: &str) -> String {
    match text.parse::<Variant>() {
        Err(error) => error.to_string(),
        Ok(variant) => variant.resolve(Profile::Rfc).unwrap_err().to_string(),
    }
}

#[test]
fn two_spellings_of_one_sender_print_alike() {
    for (written, printed) in [
        ("tahoe", "tahoe"),
        ("tahoe+gobackn", "tahoe"),
        ("tahoe(bytes)+iw1", "tahoe(bytes)+iw1"),
        ("reno", "reno"),
        ("reno+fastrecovery", "reno"),
        ("reno+partialack", "newreno"),
        ("newreno+fastrecovery", "reno"),
        ("newreno+gobackn", "newreno+gobackn"),
        ("reno+gobackn", "newreno+gobackn"),
        ("newreno+rfc5681+standard+rfc3390", "newreno"),
        ("newreno+noidle+iw10", "newreno+iw10+noidle"),
        ("cubic+rack+hystartpp+iw10", "cubic"),
        ("cubic(rfc9438)+iw10", "cubic"),
        ("cubic(linux)", "cubic(linux)"),
        ("cubic(linux)+hystart", "cubic(linux)"),
        ("cubic(linux)+hystartpp", "cubic(linux)+hystartpp"),
        ("reno+abc", "reno+abc"),
        ("reno+abc(unlimited)", "reno+abc(unlimited)"),
        ("cubic+sack+standard", "cubic+sack+standard"),
        ("highspeed+limited", "highspeed+limited"),
        ("vegas+iw10", "vegas"),
        ("bbr+rack+iw10", "bbr"),
        ("bbr1+sack", "bbr1+sack"),
        ("newreno+tsl(3,16)+sack", "newreno+sack+tsl(3,16)"),
        ("newreno+standard+tsl(half,1,2)+iw3", "newreno+iw3+tsl(half,1,2)"),
        ("newreno+synloss(rfc5681)", "newreno"),
        ("cubic+synloss(rfc6928)", "cubic+synloss(rfc6928)"),
        ("cubic+quickstart(81.92Mbps)", "cubic+quickstart(81.92Mbps)"),
        ("cubic+quickstart(100Mbps)", "cubic+quickstart(81.92Mbps)"),
        (
            "newreno+limited+quickstart(5120kbps,approved)+iw3",
            "newreno+iw3+quickstart(5.12Mbps,approved)+limited",
        ),
        ("cubic+jumpstart", "cubic+jumpstart"),
        ("newreno+resume(1000,0.1s)+iw10", "newreno+iw10+resume(1000,100ms)"),
        ("newreno+resume(2,1.5ms)", "newreno+resume(2,1.5ms)"),
        ("compound+rack", "compound"),
        ("ccp(1)", "ccp(1)"),
        ("ccp(1.0,incremental,path)+rack", "ccp(1)"),
        ("ccp(0.50,buffer,literal)+sack", "ccp(0.5,literal,buffer)+sack"),
        ("ccpd(1,2000)", "ccpd(1,2000)"),
        ("ccpd(1,4000,literal)", "ccpd(1,4000,literal)"),
        ("ccp(1,delivery,literal)", "ccp(1,literal,delivery)"),
        ("ccpd(1,2000,largest,buffer)", "ccpd(1,2000,buffer,largest)"),
        ("ccp(1,pairs)", "ccp(1)"),
        ("ccpd(0.125,0,path,literal)", "ccpd(0.125,0,literal)"),
    ] {
        assert_eq!(name(written, Profile::Rfc), printed, "{written}");
    }
}

#[test]
fn what_is_a_default_depends_on_the_profile() {
    assert_eq!(name("newreno+iw10", Profile::Rfc), "newreno+iw10");
    // Linux has one Reno, with RACK, whatever its word here.
    assert_eq!(name("newreno+iw10", Profile::Linux), "reno");
    assert_eq!(name("reno+rack", Profile::Linux), "reno");
    assert_eq!(name("newreno+rfc3390", Profile::Linux), "reno+rfc3390");
    // RFC 9438 §4.10 recommends HyStart++; Linux has the classic.
    assert_eq!(name("cubic+hystart", Profile::Rfc), "cubic+hystart");
    assert_eq!(name("cubic+hystart", Profile::Linux), "cubic");
    assert_eq!(name("cubic+hystartpp", Profile::Linux), "cubic+hystartpp");
    // What a lost SYN costs.
    assert_eq!(name("reno+synloss(rfc6928)", Profile::Linux), "reno");
    assert_eq!(name("reno+sack+synloss(ns2)", Profile::Ns2), "newreno+sack");
    assert_eq!(name("newreno+synloss(rfc5681)", Profile::Ns2), "newreno+synloss(rfc5681)");
    // Linux's slow start counts what an ACK delivers.
    assert_eq!(name("reno+abc(unlimited)", Profile::Linux), "reno");
    assert_eq!(name("reno+standard", Profile::Linux), "reno+standard");
}

#[test]
fn cubic_alone_is_the_profiles_form() {
    for (profile, form, same, other) in [
        (Profile::Rfc, GrowthChoice::Cubic(LawForm::Published), "cubic(rfc9438)", "cubic(linux)"),
        (Profile::Ns2, GrowthChoice::Cubic(LawForm::Published), "cubic(rfc9438)", "cubic(linux)"),
        (Profile::Linux, GrowthChoice::CubicLinux(()), "cubic(linux)", "cubic(rfc9438)"),
    ] {
        let growth = |name: &str| name.parse::<Variant>().unwrap().resolve(profile).unwrap().growth;
        assert_eq!(growth("cubic"), form);
        assert_eq!(growth(same), growth("cubic"));
        assert_eq!(name(same, profile), "cubic");
        assert_eq!(name(other, profile), other);
    }
    assert!(error("cubic(bic)").contains("expected no argument or `rfc9438` or `linux`"));
}

#[test]
fn modern_gives_every_law_the_recovery_and_the_first_window_of_today() {
    for row in GrowthChoice::rows() {
        for (_, profile) in Profile::ALL {
            let law = row.choice.spelled();
            let parts =
                format!("{law}+modern").parse::<Variant>().unwrap().resolve(profile).unwrap();
            assert_eq!(Part::Window(parts.window).spelled(), "iw10", "{law}");
            assert_eq!(Part::Recovery(parts.recovery).spelled(), "rack", "{law}");
        }
    }
    for (written, profile, printed) in [
        ("newreno+modern", Profile::Rfc, "newreno+rack+iw10"),
        ("reno+modern", Profile::Rfc, "newreno+rack+iw10"),
        ("newreno+modern", Profile::Linux, "reno"),
        ("cubic+modern", Profile::Rfc, "cubic"),
        ("cubic+modern", Profile::Ns2, "cubic+rack+iw10"),
        // A part that is spelled out comes before it.
        ("newreno+iw3+modern", Profile::Rfc, "newreno+rack+iw3"),
        ("newreno+modern+sack", Profile::Rfc, "newreno+sack+iw10"),
    ] {
        assert_eq!(name(written, profile), printed, "{written}");
    }
    let spelled = |text: &str| {
        let variant: Variant = text.parse().unwrap();
        [Slot::Recovery, Slot::Window, Slot::Idle].map(|slot| variant.spells(slot))
    };
    assert_eq!(spelled("newreno"), [false, false, false]);
    assert_eq!(spelled("newreno+modern"), [true, true, false]);
    assert_eq!(spelled("newreno+iw3+noidle"), [false, true, true]);
    assert_eq!("newreno+modern+iw3".parse::<Variant>().unwrap().to_string(), "newreno+modern+iw3");
    assert!(error("newreno+moderne").contains(", modern"));
    assert!(error("modern").contains("does not begin with a growth law"));
}

#[test]
fn each_law_of_linuxs_has_a_published_form_and_the_kernels() {
    for (word, published) in
        [("reno", "rfc5681"), ("highspeed", "rfc3649"), ("vegas", "paper"), ("dctcp", "rfc8257")]
    {
        let (linux, published) = (format!("{word}(linux)"), format!("{word}({published})"));
        assert_eq!(name(&linux, Profile::Linux), word);
        assert_eq!(name(&published, Profile::Linux), published);
        assert_eq!(name(&linux, Profile::Rfc), linux);
        assert_eq!(name(&published, Profile::Rfc), word);
        assert_eq!(name(&linux, Profile::Ns2), linux);
    }
    // Linux's Reno comes with what Linux's CUBIC comes with.
    assert_eq!(name("reno(linux)+rack+iw10+abc(unlimited)+linuxidle", Profile::Rfc), "reno(linux)");
    assert!(error("newreno(linux)").contains("does not take `linux`"));
}

#[test]
fn what_is_not_a_sender_is_refused_in_one_line() {
    assert!(error("").contains("is empty"));
    assert!(error("renno").starts_with("unknown part `renno` in `renno`; known: tahoe,"));
    assert!(error("reno+").contains("unknown part ``"));
    assert!(
        error("gobackn").contains("does not begin with a growth law; known: tahoe, newreno, reno")
    );
    assert!(
        error("tahoe(packets)")
            .contains("does not take `packets`; expected no argument or `bytes`")
    );
    assert!(error("reno+iw3+iw4").contains("two parts for the first window: `iw3` and `iw4`"));
    for spelling in
        ["tsl", "tsl(3)", "tsl(0,2)", "tsl(03,16)", "tsl(3,1)", "tsl(1001,2)", "tsl(3,16,2)"]
    {
        let said = error(&format!("reno+{spelling}"));
        assert!(
            said.contains("expected `IW,SSTHRESH` or `half,IW,SSTHRESH` in segments"),
            "{said}"
        );
    }
    for spelling in ["resume", "resume(1000)", "resume(1,100ms)", "resume(010,1s)", "resume(10,0s)"]
    {
        let said = error(&format!("reno+{spelling}"));
        assert!(said.contains("expected the saved window in segments, 2 to 1000000"), "{said}");
    }
    assert!(error("reno+jumpstart(2)").contains("expected no argument"));
    assert!(
        error("reno+jumpstart+resume(9,1s)").contains("two parts for the jump past slow start")
    );
    assert!(error("bbr+jumpstart").contains("BBR sends at the rate that it measures"));
    assert!(
        error("reno+tsl(1,2)+synloss(ns2)")
            .contains("two parts for the answer to a lost SYN: `tsl(1,2)` and `synloss(ns2)`")
    );
    assert!(error("reno+tahoe").contains("two parts for the growth"));
    assert!(error("tahoe+partialack").contains("`tahoe` does not go with `partialack`"));
    assert!(error("vegas+iw3+hystartpp").contains("`vegas` does not go with `hystartpp`"));
    assert!(error("bbr+hystart").contains("BBR has a startup of its own"));
    assert!(error("bbr1+rfc5681").contains("BBR keeps its window after silence"));
    for recovery in ["gobackn", "fastrecovery", "partialack", "prr"] {
        let said = error(&format!("bbr1+{recovery}"));
        assert!(said.contains("says itself how much is sent while losses are repaired"), "{said}");
    }
    assert!(error("ccp(1)+partialack").contains("its window goes on moving"));
    assert!(
        error("ccp(0)").starts_with("`ccp` in `ccp(0)` does not take `0`; expected `Kp` up to")
    );
    for spelling in [
        "ccp",
        "ccp()",
        "ccp(01)",
        "ccp(.5)",
        "ccp(1.)",
        "ccp(1.0001)",
        "ccp(-1)",
        "ccp(1001)",
        "ccp(1,2000)",
        "ccp(1,literal,literal)",
        "ccp(1,delivery,largest)",
        "ccp(1, literal)",
        "ccp(1,path,buffer)",
        "ccpd(1)",
        "ccpd(1,2.5)",
        "ccpd(1,02)",
        "ccpd(1,1000000001)",
        "ccpd(1,2000,soft)",
    ] {
        assert!(error(spelling).contains("; expected `Kp"), "{spelling}: {}", error(spelling));
    }
    assert!(error("vegas+standard").contains("Vegas has a slow start of its own"));
    // RFC 6928 asks for 10; 1000 is the most that the choice takes.
    for (spelling, number) in [("cubic+iw0", "0"), ("cubic+iw1001", "1001"), ("reno+iw03", "03")] {
        assert_eq!(
            error(spelling),
            format!(
                "`iw` in `{spelling}` does not take `{number}`; expected `iw<N>`: N segments, 1 to 1000"
            )
        );
    }
    for spelling in
        ["reno+iw0", "reno+iw03", "reno+iw1001", "reno+iw", "reno +iw3", "RENO", "reno(", "reno)"]
    {
        assert!(spelling.parse::<Variant>().is_err(), "{spelling}");
    }
}

#[test]
fn every_word_is_lower_case_and_fills_one_slot() {
    for entry in REGISTRY.iter() {
        assert!(entry.word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
        for other in REGISTRY.iter().filter(|other| other.word == entry.word) {
            assert_eq!(entry.choice.slot(), other.choice.slot(), "{}", entry.word);
        }
    }
}

#[test]
fn a_slug_is_a_file_name() {
    assert_eq!(slug("newreno+iw10"), "newreno_iw10");
    assert_eq!(slug("tahoe(bytes)"), "tahoe-bytes");
    assert_eq!(slug("cubic(linux)+iw3"), "cubic-linux_iw3");
    assert_eq!(slug("newreno+sack+tsl(3,16)"), "newreno_sack_tsl-3-16");
    assert_eq!(slug("ccpd(1,4000)"), "ccpd-1-4000");
}

fn parts() -> impl Strategy<Value = String> {
    let words: Vec<String> = REGISTRY
        .iter()
        .filter(|e| e.choice.slot() != Slot::Growth)
        .map(|e| e.choice.spelled())
        .chain(["iw1", "iw10", "tsl(1,1000)", "tsl(half,2,16)"].map(str::to_owned))
        .collect();
    let growths: Vec<String> = REGISTRY
        .iter()
        .filter(|e| e.choice.slot() == Slot::Growth)
        .map(|e| e.choice.spelled())
        .collect();
    let growths = prop::sample::select(growths);
    (growths, prop::sample::subsequence(words, 0..4))
        .prop_map(|(growth, parts)| [vec![growth], parts].concat().join("+"))
}

proptest! {
    /// A variant that is printed is read back as the same sender, and printed the same again.
    #[test]
    fn names_survive_a_round_trip(text in parts(), profile in prop::sample::select(Profile::ALL.to_vec())) {
        let (_, profile) = profile;
        if let Ok(parts) = text.parse::<Variant>().and_then(|variant| variant.resolve(profile)) {
            let printed = parts.name(profile);
            let again = printed.parse::<Variant>().unwrap().resolve(profile).unwrap();
            prop_assert_eq!(again.name(profile), printed);
            prop_assert!(again.growth.is_same_law(parts.growth));
            prop_assert_ne!(again.growth, GrowthChoice::Cubic(LawForm::OfProfile));
            prop_assert_eq!(
                (again.recovery, again.window, again.syn_loss, again.slow_start, again.idle),
                (parts.recovery, parts.window, parts.syn_loss, parts.slow_start, parts.idle)
            );
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,40}") {
        let _ = text.parse::<Variant>();
    }
}

#[test]
fn idle_rules_take_arguments_and_print_alike() {
    for (written, profile, canonical) in [
        ("newreno+cwv(rto=clamped)", Profile::Ns2, "newreno+cwv"),
        ("newreno+cwv(rto=0.5s)", Profile::Ns2, "newreno+cwv(rto=500ms)"),
        ("cubic+cwv(rto=unclamped)", Profile::Rfc, "cubic+cwv(rto=unclamped)"),
        ("newreno+rfc5681(rw=1,timer)", Profile::Rfc, "newreno+rfc5681(timer,rw=1)"),
        ("newreno+rfc5681(timer,rw=1)", Profile::Ns2, "newreno"),
        ("newreno+rfc5681", Profile::Ns2, "newreno+rfc5681"),
        ("newreno+rfc5681(rw=4)", Profile::Rfc, "newreno+rfc5681(rw=4)"),
        ("newreno+newcwv", Profile::Linux, "reno+newcwv"),
    ] {
        let name = written
            .parse::<Variant>()
            .map(|variant| variant.resolve(profile).unwrap().name(profile))
            .unwrap_or_default();
        assert_eq!(name, canonical, "{written}");
        if !name.is_empty() {
            let again = name.parse::<Variant>().unwrap().resolve(profile).unwrap();
            assert_eq!(again.name(profile), name);
        }
    }
}

#[test]
fn an_idle_rule_says_what_it_takes() {
    for text in ["newreno+cwv(500ms)", "newreno+cwv(rto=0s)", "newreno+cwv(rto=1s,rto=2s)"] {
        let error = text.parse::<Variant>().unwrap_err().to_string();
        assert!(
            error.ends_with("expected nothing, `rto=unclamped`, or a time such as `rto=500ms`"),
            "{error}"
        );
    }
    for text in ["newreno+rfc5681(rw=0)", "newreno+rfc5681(rw=01)", "newreno+rfc5681(timer,timer)"]
    {
        assert!(text.parse::<Variant>().is_err(), "{text}");
    }
}

#[test]
fn a_law_is_as_its_description_says() {
    for row in GrowthChoice::rows() {
        let about = row.choice.about();
        let law = AnyGrowth::new(row.choice);
        let leaves = matches!(about.recoveries, Recoveries::LeavingTheWindow(_));
        assert_eq!(law.wants().models_path, leaves, "{}", row.word);
        assert_eq!(law.wants().measures_marks, about.needs_marks, "{}", row.word);
    }
}

#[test]
fn a_recovery_is_as_its_description_says() {
    let config =
        crate::Config::new(Parts::of(GrowthChoice::rows()[0].choice, Profile::Rfc), Profile::Rfc);
    for row in RecoveryChoice::rows() {
        let recovery = AnyRecovery::new(row.choice, config.recovery);
        assert_eq!(recovery.board().is_some(), row.choice.needs_sack(), "{}", row.word);
    }
    assert_eq!(Part::parse("rack"), Some(Part::Recovery(recovery("rack"))));
    // tcp_recovery = 0; a peer without SACK.
    assert_eq!(recovery("rack").without_time(), recovery("prr"));
    assert_eq!(recovery("sack").without_time(), recovery("sack"));
    assert_eq!(recovery("prr").without_sack(), recovery("partialack"));
    assert_eq!(recovery("gobackn").without_sack(), recovery("gobackn"));
}

fn recovery(word: &str) -> RecoveryChoice {
    RecoveryChoice::parse(word).unwrap()
}

#[test]
fn laws_of_linux_have_their_names_there() {
    let ours: Vec<_> = growth::laws_of_linux().collect();
    let expected = [
        ("newreno", "reno"),
        ("reno", "reno"),
        ("cubic", "cubic"),
        ("highspeed", "highspeed"),
        ("vegas", "vegas"),
        ("dctcp", "dctcp"),
        ("bbr1", "bbr"),
        ("westwood", "westwood"),
        ("scalable", "scalable"),
        ("hybla", "hybla"),
        ("htcp", "htcp"),
        ("veno", "veno"),
        ("yeah", "yeah"),
        ("illinois", "illinois"),
        ("bic", "bic"),
        ("lp", "lp"),
        ("cdg", "cdg"),
        ("nv", "nv"),
    ];
    assert_eq!(ours, expected);
    let published = GrowthChoice::parse("cubic(rfc9438)").unwrap();
    assert_eq!(published.in_linux(), None);
}

#[test]
fn a_word_belongs_to_one_family_and_every_default_is_a_word() {
    for entry in REGISTRY.iter() {
        let slots = REGISTRY.iter().filter(|other| other.spelled() == entry.spelled());
        // `rfc5681` names an idle rule, and is an argument elsewhere.
        assert_eq!(slots.count(), 1, "{}", entry.spelled());
        if let Part::Growth(growth) = entry.choice {
            for (_, profile) in Profile::ALL {
                let _ = Parts::of(growth, profile);
            }
        }
    }
}

fn reno() -> Box<dyn Growth> {
    Box::new(AnyGrowth::new(GrowthChoice::parse("reno").unwrap()))
}

#[test]
fn a_registered_law_is_a_word_like_others() {
    register_law("visitor1", reno).unwrap();
    let variant: Variant = "visitor1+rack+iw10".parse().unwrap();
    let parts = variant.resolve(Profile::Rfc).unwrap();
    // Rack and ten segments are the profile's own habits.
    assert_eq!(parts.name(Profile::Rfc), "visitor1");
    assert_eq!(variant.to_string(), "visitor1+rack+iw10");
    let sack: Variant = "visitor1+sack".parse().unwrap();
    assert_eq!(sack.resolve(Profile::Rfc).unwrap().name(Profile::Rfc), "visitor1+sack");
    assert!(registered_laws().contains(&"visitor1".to_owned()));
    assert_eq!(AnyGrowth::new(parts.growth).cwnd(), Bytes::ZERO);
}

#[test]
fn a_word_of_the_house_cannot_be_taken() {
    for taken in ["reno", "bbr", "rack", "modern", "quickstart", "tsl", "iw10"] {
        assert_eq!(register_law(taken, reno), Err(VisitorError::Taken(taken.to_owned())));
    }
    for no_word in ["", "Mine", "my-law", "1law", "a+b", "loi\u{e9}"] {
        assert_eq!(register_law(no_word, reno), Err(VisitorError::NoWord(no_word.to_owned())));
    }
}

#[test]
fn a_name_means_the_law_that_was_registered_last() {
    register_law("visitor2", reno).unwrap();
    let first: Variant = "visitor2".parse().unwrap();
    register_law("visitor2", reno).unwrap();
    let second: Variant = "visitor2".parse().unwrap();
    let law = |variant: &Variant| variant.resolve(Profile::Rfc).unwrap().growth;
    assert!(law(&first) != law(&second));
    assert!(matches!(law(&first), GrowthChoice::Visitor(_)));
    assert_eq!(first.to_string(), second.to_string());
}
