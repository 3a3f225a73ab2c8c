use super::*;
use crate::base::options::KernelLaw;

fn scenario(flow: &str) -> Scenario {
    let text = format!(
        r#"{{
            "duration": "10 s",
            "topology": {{ "kind": "dumbbell",
                "bottleneck": {{ "rate": "10 Mbit/s", "delay": "20 ms" }},
                "access": {{ "rate": "100 Mbit/s", "delay": "1 ms" }} }},
            "flow": [{{ "name": "bulk", {flow} }}]
        }}"#
    );
    Scenario::from_json(&text).unwrap()
}

fn refused(flow: &str) -> String {
    check(&scenario(flow), &[[End::Kernel; 2]], Extras::default()).unwrap_err().to_string()
}

fn accepted(flow: &str) -> KernelSettings {
    let scenario = scenario(flow);
    check(&scenario, &[[End::Kernel; 2]], Extras::default()).unwrap();
    settings(&entries(&scenario).unwrap()[0], End::Kernel, Extras::default()).unwrap()
}

fn sysctl<'a>(settings: &'a KernelSettings, name: &str) -> Option<&'a str> {
    let name = format!("net.ipv4.{name}");
    settings.sysctls.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}

#[test]
fn what_the_kernel_lacks_is_refused_by_name() {
    for (flow, words) in [
        (r#""variant": "cubic""#, &["flow[0].profile", "linux"][..]),
        (r#""variant": "tahoe", "profile": "linux""#, &["flow[0].variant", "no `tahoe`", "cubic"]),
        (r#""variant": "bbr", "profile": "linux""#, &["no `bbr`", "`bbr1`"]),
        (r#""variant": "cubic(rfc9438)", "profile": "linux""#, &["cubic(rfc9438)"]),
        (r#""variant": "cubic+prr", "profile": "linux""#, &["without `+prr`"]),
        (r#""variant": "cubic+hystartpp", "profile": "linux""#, &["without `+hystartpp`"]),
        (
            r#""variant": "cubic", "profile": "linux", "tcp": {"initial_rto": "3 s"}"#,
            &["flow[0].tcp.initial_rto"],
        ),
        (
            r#""variant": "cubic", "profile": "linux",
               "tcp": {"delayed_ack": {"every": 2, "timeout": "100 ms"}}"#,
            &["flow[0].tcp.delayed_ack"],
        ),
        (
            r#""variant": "cubic+quickstart(5.12Mbps)", "profile": "linux""#,
            &["flow[0].variant", "without `+quickstart(5.12Mbps)`"],
        ),
        (
            r#""variant": "cubic", "profile": "linux", "app": {"kind": "bursts",
               "size": "100 kB", "every": "1 s", "quick_start": "5.12 Mbit/s"}"#,
            &["flow[0].app.quick_start", "no Quick-Start", "ackclock"],
        ),
        (
            r#""variant": "cubic", "profile": "linux", "tcp": {"quick_start": {"answer": true}}"#,
            &["flow[0].tcp.quick_start", "no Quick-Start"],
        ),
        // RFC 8200 section 5: 1280 bytes, less 40 of IPv6 and 20 of TCP.
        (
            r#""variant": "cubic", "profile": "linux", "network": "ipv6", "tcp": {"mss": "1219 B"}"#,
            &["flow[0].tcp.mss", "1220 B"],
        ),
    ] {
        let message = refused(flow);
        assert!(words.iter().all(|word| message.contains(word)), "{flow}: {message}");
    }
}

#[test]
fn settings_are_the_kernels_words() {
    let settings = accepted(r#""variant": "newreno", "profile": "linux""#);
    assert_eq!(settings.congestion_control, "reno");
    // 1460 bytes of payload, timestamps within, and 40 of headers.
    assert_eq!(settings.mtu, 1500);
    assert_eq!(settings.route, RouteMetrics::default());
    assert_eq!(sysctl(&settings, "tcp_sack"), Some("1"));
    assert_eq!(sysctl(&settings, "tcp_rmem"), Some("4096 131072 33554432"));
    assert_eq!(sysctl(&settings, "tcp_rto_max_ms"), None);

    let settings = accepted(
        r#""variant": "cubic+iw3+linuxidle(norestart)", "profile": "linux", "tcp": {
            "mss": "1000 B", "sack": false, "timestamps": false, "min_rto": "1 s", "max_rto": "60 s",
            "ecn": "on", "delayed_ack": "off", "receive_window": "64 KiB", "syn_retries": 3,
            "pacing": "linux", "nagle": "off"
        }"#,
    );
    assert_eq!(settings.mtu, 1040);
    let route = RouteMetrics {
        initial_window: Some(3),
        quick_ack: true,
        min_rto_ms: Some(1000),
        ..RouteMetrics::default()
    };
    assert_eq!(settings.route, route);
    for (name, value) in [
        ("tcp_slow_start_after_idle", "0"),
        ("tcp_sack", "0"),
        ("tcp_timestamps", "0"),
        ("tcp_ecn", "1"),
        ("tcp_rto_max_ms", "60000"),
        ("tcp_syn_retries", "3"),
    ] {
        assert_eq!(sysctl(&settings, name), Some(value), "{name}");
    }
    assert_eq!(settings.window_clamp, Some(65_536));
    assert!(settings.paced && settings.no_delay);
}

#[test]
fn packets_of_ipv6_are_longer() {
    let flow = r#""variant": "cubic", "profile": "linux", "network": "ipv6""#;
    let settings = accepted(flow);
    // 40 bytes of IPv6 and 20 of TCP around 1460.
    assert_eq!((settings.mtu, settings.network), (1520, NetworkSpec::Ipv6));
    let disabled =
        settings.sysctls.iter().find(|(name, _)| *name == "net.ipv6.conf.all.disable_ipv6");
    assert_eq!(disabled.map(|(_, value)| value.as_str()), Some("0"));
}

#[test]
fn our_own_sender_may_be_any() {
    let tahoe = scenario(
        r#""variant": "tahoe", "app": {"kind": "cbr", "rate": "1 Mbit/s", "message": "1 kB"}"#,
    );
    check(&tahoe, &[[End::Own, End::Kernel]], Extras::default()).unwrap();
    assert!(check(&tahoe, &[[End::Kernel, End::Own]], Extras::default()).is_err());
}

#[test]
fn the_command_decides_over_the_file() {
    let flow = r#""variant": "cubic", "profile": "linux", "endpoint": "ackclock""#;
    assert_eq!(ends(&scenario(flow), [None; 2]), [[End::Own; 2]]);
    assert_eq!(ends(&scenario(flow), [None, Some(End::Kernel)]), [[End::Own, End::Kernel]]);
}

fn traffic(class: &str) -> Scenario {
    let mut scenario = scenario(r#""variant": "cubic", "profile": "linux""#);
    let text = format!(
        r#"[{{ "name": "web", "profile": "linux", "arrivals": {{"kind": "list", "at": ["1 s"]}},
               {class} }}]"#
    );
    scenario.traffic = serde_json::from_str(&text).unwrap();
    scenario
}

#[test]
fn a_browsers_users_are_refused_and_not_run_without_pages() {
    // 20 users opened 20 connections, on which nothing was asked for; the run was called valid.
    let browser = r#""variant": "cubic", "app": {"kind": "browser", "constants": "surge-1998"}"#;
    let error = check(&traffic(browser), &[[End::Kernel; 2]; 2], Extras::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "traffic[0].app.kind: a live run has no users who open connections; expected \"request\", \
         \"bulk\" or \"packmime\" for a live run"
    );
    // Whichever end is our own: it is the applications that are missing.
    assert!(check(&traffic(browser), &[[End::Own; 2]; 2], Extras::default()).is_err());
}

#[test]
fn of_traffic_what_the_kernel_has_no_word_for_is_refused() {
    let request = r#""app": {"kind": "request", "response": "1 kB"}"#;
    let kernel = [[End::Kernel; 2]; 2];
    let line = r#""access": {"client": {"delay": "1 ms"}}"#;
    for class in
        [request, &format!("{request}, {line}"), r#""app": {"kind": "packmime", "rate": "5 /s"}"#]
    {
        let scenario = traffic(&format!(r#""variant": "reno", {class}"#));
        check(&scenario, &kernel, Extras::default()).unwrap();
    }
    for (class, key) in [
        (&*format!(r#""variant": "tahoe", {request}"#), "traffic[0].variant"),
        (
            r#""variant": "reno", "app": {"kind": "request", "response": "1 kB",
               "quick_start": "5.12 Mbit/s"}"#,
            "traffic[0].app.quick_start",
        ),
    ] {
        let error = check(&traffic(class), &kernel, Extras::default()).unwrap_err();
        assert_eq!(error.key, key);
    }
}

#[test]
fn a_law_of_ours_that_the_kernel_has_is_taken_under_its_name_there() {
    let scenario = scenario(r#""variant": "tahoe+iw4", "profile": "linux""#);
    let kernel = [[End::Kernel; 2]];
    let wanted = laws_wanted(&scenario, &kernel).unwrap();
    let [law] = wanted.as_slice() else { panic!("{wanted:?}") };
    assert_eq!((law.key.as_str(), law.word.as_str()), ("flow[0].variant", "tahoe"));
    let laws = [KernelLaw { word: law.word.clone(), name: "ack_tahoe1ff".to_owned() }];
    let extras = Extras { laws: &laws, quick_start: false };
    check(&scenario, &kernel, extras).unwrap();
    let settings = settings(&entries(&scenario).unwrap()[0], End::Kernel, extras).unwrap();
    assert_eq!(settings.congestion_control, "ack_tahoe1ff");
    assert_eq!(settings.route.initial_window, Some(4));
}

#[test]
fn parts_that_the_kernel_has_no_setting_for_make_a_law_of_ours() {
    let scenario = scenario(r#""variant": "cubic+iw3+newcwv", "profile": "linux""#);
    let kernel = [[End::Kernel; 2]];
    let wanted = laws_wanted(&scenario, &kernel).unwrap();
    let [law] = wanted.as_slice() else { panic!("{wanted:?}") };
    assert_eq!(law.word, "cubic(linux)+iw3+newcwv");
    let error = check(&scenario, &kernel, Extras::default()).unwrap_err();
    assert!(error.message.contains("without `+newcwv`"), "{}", error.message);
    let laws = [KernelLaw { word: law.word.clone(), name: "ack_cubic_l1ff".to_owned() }];
    let extras = Extras { laws: &laws, quick_start: false };
    check(&scenario, &kernel, extras).unwrap();
    let settings = settings(&entries(&scenario).unwrap()[0], End::Kernel, extras).unwrap();
    assert_eq!(settings.congestion_control, "ack_cubic_l1ff");
    assert_eq!(settings.route.initial_window, Some(3));
}

#[test]
fn a_module_that_the_kernel_lacks_is_wanted_of_us() {
    assert!(has_module("reno") && !has_module("no_such_law"));
}

#[test]
fn laws_that_the_kernel_has_or_does_not_run_are_not_wanted() {
    for flow in [
        r#""variant": "cubic", "profile": "linux""#,
        r#""variant": "tahoe", "profile": "linux", "endpoint": "ackclock""#,
        r#""variant": "tahoe""#,
    ] {
        let scenario = scenario(flow);
        assert!(laws_wanted(&scenario, &ends(&scenario, [None; 2])).unwrap().is_empty(), "{flow}");
    }
}

#[test]
fn quick_start_is_taken_where_the_kernel_has_it() {
    let scenario = scenario(r#""variant": "cubic+quickstart(40.96Mbps)", "profile": "linux""#);
    let kernel = [[End::Kernel; 2]];
    let wants = wants_quick_start(&scenario, &kernel).unwrap();
    assert_eq!(wants.as_deref(), Some("flow[0].variant"));
    assert!(wants_quick_start(&scenario, &[[End::Own; 2]]).unwrap().is_none());
    let error = check(&scenario, &kernel, Extras::default()).unwrap_err();
    assert_eq!(error.key, "flow[0].variant");
    let extras = Extras { laws: &[], quick_start: true };
    check(&scenario, &kernel, extras).unwrap();
    let asked = &entries(&scenario).unwrap()[0];
    let settings = settings(asked, End::Kernel, extras).unwrap();
    // 1460 bytes, 40 of headers, and 8 of the option in front of a full segment.
    assert_eq!((settings.mtu, settings.route.advertised_mss), (1508, Some(1460)));
    assert_eq!((settings.packet, settings.payload), (1500, 1448));
}

#[test]
fn an_approved_threshold_is_for_the_ends_to_set() {
    let flow = r#""variant": "cubic+quickstart(40.96Mbps,approved)", "profile": "linux""#;
    let extras = Extras { laws: &[], quick_start: true };
    let scenario = scenario(flow);
    check(&scenario, &[[End::Kernel; 2]], extras).unwrap();
    let end = quick_start_end(&entries(&scenario).unwrap()[0].config, 1500, 1448).unwrap();
    assert!(end.sets_threshold && end.at_setup && end.after_idle);
}
