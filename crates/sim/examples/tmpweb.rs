//! tmp
#![allow(clippy::all)]
use std::time::Instant as T;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let rate: f64 = a[1].parse().unwrap();
    let n: f64 = a[2].parse().unwrap();
    let seed: u64 = a[3].parse().unwrap();
    let v = &a[4];
    let dur = 60.0 + n / rate;
    let text = format!(
        r#"{{"duration":"{dur} s","seed":{seed},"topology":{{"kind":"graph","link":[{{"name":"bottleneck","from":"servers","to":"clients","rate":"10 Mbit/s","delay":"0 ms","queue":{{"kind":"droptail","limit":"100 packet"}}}}]}},
 "traffic":[{{"name":"web","variant":"{v}","profile":"ns2","tcp":{{"mss":"1460 B","initial_window":3,"receive_window":"1460000 B"}},"arrivals":{{"kind":"packmime","rate":"{rate} /s"}},"app":{{"kind":"packmime"}},"from":"clients","to":"servers","access":{{"client":{{"rate":"1 Gbit/s"}},"server":{{"rate":"1 Gbit/s"}}}}}}],
 "measure":[{{"name":"warm","from":"60 s"}}]}}"#
    );
    let s: ackclock_sim::Scenario = serde_json::from_str(&text).unwrap();
    let t = T::now();
    let r = ackclock_sim::simulate(&s).unwrap();
    let el = t.elapsed().as_secs_f64();
    for l in &r.links {
        if l.measure == "warm" {
            println!(
                "{} {} util {:.4} plr {:.5} bps {:.4}",
                l.link,
                l.direction,
                l.utilisation,
                l.dropped_packets as f64 / l.offered_packets as f64,
                l.delivered_bytes as f64 * 8.0 / l.duration_s / 1e7
            );
        }
    }
    let c = &r.connections;
    let nc = c.len();
    println!(
        "conns {nc} wall {el:.2} s = {:.3} ms/1000, events {}",
        el * 1e6 / nc as f64,
        r.events
    );
    let mut o = std::collections::BTreeMap::new();
    for x in &c.outcome {
        *o.entry(format!("{x:?}")).or_insert(0) += 1;
    }
    println!("{o:?}");
    let lost: Vec<usize> = (0..nc).filter(|i| c.lost_synack[*i] == 1).collect();
    println!(
        "lost synack {} lost syn {} spurious {}",
        lost.len(),
        c.lost_syn.iter().filter(|x| **x > 0).count(),
        (0..nc).filter(|i| c.lost_synack[*i] == 0 && c.synack_retransmits[*i] > 0).count()
    );
    println!("objects {}", r.objects.flow.len());
}
