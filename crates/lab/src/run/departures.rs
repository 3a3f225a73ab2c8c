//! The departures of packets that come to one link at given moments, for those who have JSON.

use ackclock_input::value_from_json;
use ackclock_net::{
    ChannelConfig, Discipline, Effect, Installed, Link, LinkConfig, LinkParts, Loss, Packet,
    PacketId, PacketKind, Verdict,
};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::BadInput;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The rate of the link.
    rate: Rate,
    /// The channel in place of the rate, if there is one.
    #[serde(default)]
    channel: Option<ChannelConfig>,
    /// The queue.
    queue: Discipline,
    /// Seed of the queue's draws.
    #[serde(default)]
    seed: u64,
    /// True if packets ask for ECN.
    #[serde(default)]
    ecn: bool,
    /// The moment of each packet in nanoseconds, its flow, and its bytes; in the order of the moments.
    packets: Vec<(u64, u32, u32)>,
}

/// The outcome of a packet: when its transmission began and ended, unless it was dropped, and whether it was marked.
type Outcome = (Option<(u64, u64)>, bool);

/// The departures of packets that come to a link at given moments.
///
/// Takes `rate`, `queue`, `packets` (of each the moment in nanoseconds, the flow and the bytes), and perhaps `channel`, `seed`
/// (0) and `ecn`. Gives of each packet the moments in nanoseconds at which its transmission began and ended, null if it was
/// dropped, and whether it was marked.
///
/// # Errors
/// The first key that is unknown, missing or out of range.
pub fn departures(question: &str) -> Result<String, BadInput> {
    let Question { rate, channel, queue, seed, ecn, packets } = value_from_json(question)?;
    if !packets.is_sorted_by_key(|packet| packet.0) {
        return Err(BadInput::new("packets: expected moments in their order"));
    }
    let refused = |(key, why): (&str, String)| BadInput::new(format_args!("{key}: {why}"));
    queue.check().map_err(refused)?;
    let queue = queue.resolve(rate, Duration::ZERO).map_err(BadInput::new)?;
    let limits = queue.limits();
    let resolved = |limit: ackclock_net::Limit| limit.resolve(rate, Duration::ZERO);
    let config = LinkConfig {
        rate,
        delay: Duration::ZERO,
        discipline: queue,
        limit: resolved(limits.limit),
        counts_in_service: limits.counts_in_service,
        mark: limits.mark.map(resolved),
        loss: Loss::default(),
    };
    let channel = channel.map(|channel| channel.channel(rate, Stream::new(seed, "channel")));
    let channel = channel.transpose().map_err(refused)?;
    let link = Link::new(LinkParts {
        installed: Installed { channel, ..Installed::default() },
        queue: Stream::new(seed, "queue"),
        ..LinkParts::new(config, Stream::new(seed, "losses"))
    });
    let outcomes = offered(link, &packets, ecn);
    Ok(json!(outcomes).to_string())
}

fn offered(mut link: Link, packets: &[(u64, u32, u32)], ecn: bool) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = vec![(None, false); packets.len()];
    let mut next: Option<Instant> = None;
    let mut coming = (0..).zip(packets).peekable();
    loop {
        let comes = coming.peek().map(|(_, packet)| Instant::from_nanos(packet.0));
        // A departure makes room for an arrival of the same moment.
        if let Some(now) = next.filter(|next| comes.is_none_or(|comes| *next <= comes)) {
            next = link.depart(now).and_then(|left| {
                let sent = (left.started.as_nanos(), now.as_nanos());
                outcomes[left.packet.id.get() as usize].0 = Some(sent);
                left.wake
            });
        } else if let Some((id, &(at, class, size))) = coming.next() {
            let kind = PacketKind::flow(true).with_ecn(ecn);
            let now = Instant::from_nanos(at);
            let marks = ecn && link.is_marking(now);
            match link.offer(now, Packet { id: PacketId::new(id), size, class, kind }) {
                Verdict::Placed { starts, departs, .. } => {
                    outcomes[id as usize] = (Some((starts.as_nanos(), departs.as_nanos())), marks);
                }
                Verdict::Waits { wake } => {
                    outcomes[id as usize].1 = marks;
                    next = wake.or(next);
                }
                Verdict::Dropped => {}
            }
        } else {
            return outcomes;
        }
        while let Some(effect) = link.take_effect() {
            if let Effect::Marked(packet) = effect {
                outcomes[packet.id.get() as usize].1 = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(more: &serde_json::Value) -> String {
        let mut table =
            json!({ "rate": "12 Mbit/s", "packets": [[0, 0, 1500], [0, 0, 1500], [0, 1, 1500]] });
        for (key, value) in more.as_object().unwrap() {
            table[key] = value.clone();
        }
        departures(&table.to_string()).unwrap_or_else(|why| why.to_string())
    }

    #[test]
    fn packets_leave_at_the_rate_and_the_last_finds_no_room() {
        // 1500 bytes take 1 ms.
        let queue = json!({ "queue": { "kind": "droptail", "limit": "1 packet" } });
        assert_eq!(asked(&queue), "[[[0,1000000],false],[[1000000,2000000],false],[null,false]]");
        let queue = json!({ "queue": { "kind": "codel", "limit": "1 packet" } });
        assert_eq!(asked(&queue), "[[[0,1000000],false],[[1000000,2000000],false],[null,false]]");
        let queue = json!({ "queue": { "kind": "codel", "ce_threshold": "0.5 ms" }, "ecn": true });
        assert_eq!(
            asked(&queue),
            "[[[0,1000000],false],[[1000000,2000000],true],[[2000000,3000000],true]]"
        );
    }

    #[test]
    fn a_shaper_holds_what_has_no_tokens() {
        // 3000 bytes of tokens pass at 1.2 Gbit/s, 10 us each; the third packet has come 1 ms after the first has.
        let shaper = json!({ "kind": "shaper", "burst": "3000 B", "peak": "1200 Mbit/s" });
        let more = json!({ "queue": { "kind": "droptail" }, "channel": shaper });
        assert_eq!(
            asked(&more),
            "[[[0,10000],false],[[10000,20000],false],[[20000,1010000],false]]"
        );
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let queue = json!({ "kind": "codel" });
        let late = json!({ "queue": queue, "packets": [[1, 0, 1500], [0, 0, 1500]] });
        assert_eq!(asked(&late), "packets: expected moments in their order");
        assert!(
            asked(&json!({ "queue": { "kind": "codel", "target": "0 s" } }))
                .starts_with("target: ")
        );
    }
}
