//! The workload W(N, C) of `ackclock bench`, as text: what the examples and the test of memory share.

/// N bulk flows for some seconds over a bottleneck of C bit/s with a buffer of one bandwidth-delay
/// product, 100 ms of round trip; all have begun after 10 s. `more` is put among the keys of the flows, with a comma behind it.
pub fn workload(flows: usize, bps: u64, seconds: &str, variant: &str, more: &str) -> String {
    let access = bps.max(1_000_000_000);
    let apart_ns = 1_000_000.min(10_000_000_000 / flows.max(1));
    format!(
        r#"{{"duration": "{seconds} s",
        "topology": {{"kind": "dumbbell",
            "bottleneck": {{"rate": "{bps} bit/s", "delay": "48 ms",
                "queue": {{"kind": "droptail", "limit": "1 BDP"}}}},
            "access": {{"rate": "{access} bit/s", "delay": "1 ms"}}}},
        "flow": [{{"name": "flow", "count": {flows}, "variant": "{variant}", {more}
            "tcp": {{"mss": "1448 B", "delayed_ack": "off"}}, "stagger": "{apart_ns} ns"}}]}}"#
    )
}
