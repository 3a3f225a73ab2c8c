//! The reasons for which segments were sent, in words: with each the RFC whose rule it is, if the sender follows one, and
//! the page that has the rule.

use ackclock_laws::event::Established;
use ackclock_laws::growth::{AnyGrowth, Growth as _, GrowthChoice};
use ackclock_laws::start::{JumpChoice, WindowChoice};
use ackclock_laws::words::Choice as _;
use ackclock_sim::scenario::{Flow, Scenario};
use ackclock_sim::{Names, Reason, Sending};
use ackclock_tcp::Parts;
use ackclock_tcp::variant::{Part, Slot};
use serde_json::{Value, json};

/// A section of an RFC.
type Rfc = (u16, &'static str);

/// A reason in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    says: String,
    rfc: Option<Rfc>,
    /// A page of docs/algorithms.
    page: Option<String>,
}

impl Explanation {
    fn new(says: impl Into<String>, rfc: Option<Rfc>, page: &str) -> Self {
        let page = Some(page.to_owned()).filter(|page| !page.is_empty());
        Self { says: says.into(), rfc, page }
    }

    /// The reason as the page reads it.
    pub fn json(&self) -> Value {
        json!({ "says": self.says, "rfc": self.rfc, "page": self.page })
    }
}

/// The sections in which RFCs that are the source of a law have its growth after slow start.
const SECTIONS: [Rfc; 5] = [(3649, "5"), (5681, "3.1"), (6817, "2.4"), (8257, "3.3"), (9438, "4")];

/// The facts of a sender that its reasons are told by.
#[derive(Debug)]
pub struct Teller {
    parts: Parts,
    /// The law as names spell it, and its page.
    law: String,
    page: String,
    slow_start: String,
    /// The law has a slow start of its own.
    owns_slow_start: bool,
    /// It models the path, and its window alone rules repairs.
    models: bool,
    /// It gives a pacing rate.
    paces: bool,
    /// The section that has its growth, if its source is an RFC.
    growth: Option<Rfc>,
    recovery: String,
    idle: String,
    syn_loss: String,
    window: WindowChoice,
}

/// The facts of a connection so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// SYNs and SYN-ACKs that this end has sent.
    pub syns: u32,
    /// A jump past slow start has begun.
    pub jumped: bool,
}

impl Teller {
    /// The tellers of all flows, `count` spelled out.
    pub fn all(scenario: &Scenario) -> Vec<Option<Self>> {
        let entries = Names::of_flows(scenario);
        entries.iter().map(|(entry, _)| Self::of(&scenario.flows[*entry])).collect()
    }

    fn of(flow: &Flow) -> Option<Self> {
        let mut parts = flow.variant.resolve(flow.profile).ok()?;
        if let Some(segments) = flow.tcp.initial_window {
            parts.window = WindowChoice::from(segments);
        }
        let name = parts.name(flow.profile);
        Some(Self::new(parts, name.split('+').next().unwrap_or_default()))
    }

    fn new(parts: Parts, law: &str) -> Self {
        let about = parts.growth.about();
        let source = about.source.strip_prefix("RFC ");
        let source: Option<u16> = source.and_then(|number| number.parse().ok());
        let mut growth = AnyGrowth::new(parts.growth);
        growth.on_established(&Established { srtt: None, seed: 0 });
        Self {
            law: law.to_owned(),
            page: page_of(parts.growth),
            slow_start: Part::SlowStart(parts.slow_start).spelled(),
            owns_slow_start: about.owns.iter().any(|(slot, _)| *slot == Slot::SlowStart),
            models: growth.wants().models_path,
            paces: growth.pacing_rate().is_some(),
            growth: SECTIONS.into_iter().find(|(number, _)| Some(*number) == source),
            recovery: Part::Recovery(parts.recovery).spelled(),
            idle: Part::Idle(parts.idle).spelled(),
            syn_loss: Part::SynLoss(parts.syn_loss).spelled(),
            window: parts.window,
            parts,
        }
    }

    /// The reason of a segment in words.
    pub fn tell(&self, sending: &Sending, past: Past) -> Explanation {
        let (law, page) = (&self.law, &*self.page);
        match sending.reason {
            Reason::WindowProbe => Explanation::new(
                "The receiver's window is closed: a probe asks if it has opened.",
                Some((9293, "3.8.6.1")),
                "flow-control",
            ),
            Reason::Timeout
            | Reason::AfterTimeout
            | Reason::FastRetransmit
            | Reason::GoBack
            | Reason::PartialAck
            | Reason::NextLost
            | Reason::LastResort
            | Reason::Again => self.again(sending, past),
            Reason::TailProbe => Explanation::new(
                "No ACK came for some two round trips: a tail loss probe asks for one.",
                Some((8985, "7.3")),
                "rack",
            ),
            Reason::ForwardProbe => Explanation::new(
                "After the timeout new data goes out before what seems lost: if what had been sent before arrives now, the timeout was for nothing (F-RTO).",
                Some((5682, if sending.selective { "3.1" } else { "2.1" })),
                "spurious",
            ),
            Reason::FirstWindow => self.first_window(sending, past),
            Reason::Jump => self.jump(),
            Reason::Restart => self.restart(),
            Reason::Application => Explanation::new(
                "The application gave this data only now, and the window has room for it.",
                None,
                "",
            ),
            Reason::Nagle => Explanation::new(
                "The segment is not full: it waited for more data, or for an ACK of what was under way.",
                None,
                "flow-control",
            ),
            Reason::Pacing if self.paces => Explanation::new(
                format!("{law} paces: the time of this segment at its rate has come."),
                None,
                page,
            ),
            Reason::Pacing => {
                Explanation::new("Pacing held this segment back until now.", None, "pacing")
            }
            Reason::ReceiveWindow => Explanation::new(
                "The receiver's window had no room for this data until now.",
                Some((9293, "3.8.6")),
                "flow-control",
            ),
            Reason::Repair => self.repair(sending),
            Reason::LimitedTransmit => Explanation::new(
                "A first or second duplicate ACK: limited transmit lets one new segment out beyond the window, so that more duplicates come.",
                Some((3042, "2")),
                "fastrecovery",
            ),
            Reason::SackedRoom => self.sacked_room(sending),
            Reason::SlowStart => self.slow_start(past),
            Reason::Window => self.avoidance(),
        }
    }

    fn again(&self, sending: &Sending, past: Past) -> Explanation {
        let recovery = &*self.recovery;
        let by_sack = sending.selective && matches!(recovery, "sack" | "prr");
        let by_time = sending.selective && recovery == "rack";
        match sending.reason {
            Reason::Timeout => {
                let one = sending.cwnd <= sending.mss.bytes();
                let window = if one { ", and the window begins with one segment" } else { "" };
                Explanation::new(
                    format!(
                        "The retransmission timer expired: the earliest segment that is not acknowledged is retransmitted{window}."
                    ),
                    Some((6298, "5")),
                    "timer",
                )
            }
            Reason::AfterTimeout if by_time => Explanation::new(
                "After the timeout what RACK takes for lost is retransmitted as the window lets it.",
                Some((8985, "6.3")),
                "rack",
            ),
            Reason::AfterTimeout => {
                let (_, rfc, _) = self.slow_start_rule(past);
                let rfc = rfc.filter(|_| sending.in_slow_start && !self.owns_slow_start);
                let kept = if by_sack { " and was not SACKed" } else { "" };
                Explanation::new(
                    format!(
                        "After the timeout everything that was outstanding{kept} counts as lost, and is retransmitted as the window lets it."
                    ),
                    rfc,
                    "timer",
                )
            }
            Reason::FastRetransmit if by_time => Explanation::new(
                "A segment that was sent later has been delivered, and the reordering window is over: RACK takes this one for lost.",
                Some((8985, "6.2")),
                "rack",
            ),
            Reason::FastRetransmit if by_sack => Explanation::new(
                "Three duplicate ACKs, or as many segments SACKed above it, show that this segment was lost.",
                Some((6675, "5")),
                "sack",
            ),
            Reason::FastRetransmit if recovery == "gobackn" => Explanation::new(
                "The third duplicate ACK came: the sender goes back to this segment without waiting for the timer, and begins anew from there.",
                None,
                "gobackn",
            ),
            Reason::FastRetransmit => Explanation::new(
                "The third duplicate ACK came: fast retransmit, without waiting for the timer.",
                Some((5681, "3.2")).filter(|_| recovery != "rack"),
                page_of_recovery(recovery),
            ),
            Reason::GoBack => Explanation::new(
                "After the third duplicate ACK everything from the lost segment on is retransmitted as the window lets it: go-back-N.",
                None,
                "gobackn",
            ),
            Reason::PartialAck => Explanation::new(
                "A partial ACK: it acknowledges new data but not all that was sent before the loss, so the next hole is retransmitted.",
                Some((6582, "3.2")).filter(|_| recovery != "rack"),
                page_of_recovery(recovery),
            ),
            Reason::NextLost if by_time => Explanation::new(
                "RACK takes this segment for lost, too.",
                Some((8985, "6.2")),
                "rack",
            ),
            Reason::NextLost => Explanation::new(
                "The scoreboard of SACKs says that this segment is the next one lost, and there is room for it.",
                Some((6675, "4")),
                "sack",
            ),
            Reason::LastResort => Explanation::new(
                "Nothing more is known to be lost, and there is no new data to send: a segment that was not SACKed is retransmitted.",
                Some((6675, "4")).filter(|_| by_sack),
                page_of_recovery(recovery),
            ),
            _ => Explanation::new(
                "It is retransmitted, as it counts as lost.",
                None,
                page_of_recovery(recovery),
            ),
        }
    }

    fn first_window(&self, sending: &Sending, past: Past) -> Explanation {
        let (word, mss) = (Part::Window(self.window).spelled(), sending.mss);
        let window = self.window.window(mss);
        let segments = sending.cwnd.get() as f64 / f64::from(mss.get());
        let count = if (segments - 1.0).abs() < 1e-9 {
            "one segment".to_owned()
        } else {
            format!("{} segments", (segments * 10.0).round() / 10.0)
        };
        if sending.cwnd < window && past.syns > 1 {
            let rfc = match &*self.syn_loss {
                "synloss(rfc5681)" => Some((5681, "3.1")),
                "synloss(rfc6928)" => Some((6928, "2")),
                _ => None,
            };
            let says = format!(
                "The handshake is done, and a SYN or SYN-ACK had been retransmitted: the first window is {count}, and not {word}."
            );
            return Explanation::new(says, rfc, "start");
        }
        if sending.cwnd != window {
            let law = &self.law;
            let says = format!("The handshake is done: {law} begins with a window of {count}.");
            return Explanation::new(says, None, &self.page);
        }
        let says = format!("The handshake is done: the first window ({word}) may be sent at once.");
        // The largest first windows of RFC 5681 §3.1 and of RFC 6928 §2.
        let most = mss.times(if mss.get() > 2190 {
            2
        } else if mss.get() > 1095 {
            3
        } else {
            4
        });
        let ten = mss.times(10).get().min((2 * mss.bytes().get()).max(14_600));
        let rfc = match self.window {
            WindowChoice::Rfc3390 => Some((3390, "1")),
            WindowChoice::Segments(_) if window <= most => Some((5681, "3.1")),
            WindowChoice::Segments(_) if window.get() <= ten => Some((6928, "2")),
            WindowChoice::Segments(_) => None,
        };
        Explanation::new(says, rfc, "start")
    }

    fn jump(&self) -> Explanation {
        match self.parts.jump {
            JumpChoice::QuickStart(_) => Explanation::new(
                "The routers approved a rate (Quick-Start): this data is paced at it over the first round trip.",
                Some((4782, "4.4")),
                "quickstart",
            ),
            JumpChoice::Resume(_) => Explanation::new(
                "Careful Resume paces half of the window that an earlier connection had over a round trip.",
                None,
                "jumps",
            ),
            _ => Explanation::new(
                "Jump Start paces what there is to send over the first round trip.",
                None,
                "jumps",
            ),
        }
    }

    fn restart(&self) -> Explanation {
        let rfc = match &*self.idle {
            "rfc5681" => Some((5681, "4.1")),
            "newcwv" => Some((7661, "4")),
            "cwv" => Some((2861, "3.2")),
            _ => None,
        };
        Explanation::new(
            "After silence the window began anew, smaller, and this data is sent in it.",
            rfc,
            "idle",
        )
    }

    fn repair(&self, sending: &Sending) -> Explanation {
        let (law, recovery) = (&self.law, &*self.recovery);
        if self.models {
            let says = format!(
                "During the repair the window of {law} says how much goes out: new data, as nothing that is lost waits."
            );
            return Explanation::new(says, None, &self.page);
        }
        match recovery {
            "prr" | "rack" => Explanation::new(
                "During the repair each ACK lets as much out as proportional rate reduction allows; new data, as nothing that is lost waits.",
                Some((9937, "6")),
                "sack",
            ),
            "sack" => Explanation::new(
                "During the repair there is room, and nothing that is lost waits: new data.",
                Some((6675, "5")).filter(|_| sending.selective),
                "sack",
            ),
            _ => Explanation::new(
                "Each duplicate ACK says that a segment has left the network; it makes the window one segment larger until the repair is over.",
                Some(if recovery == "partialack" { (6582, "3.2") } else { (5681, "3.2") }),
                page_of_recovery(recovery),
            ),
        }
    }

    fn sacked_room(&self, sending: &Sending) -> Explanation {
        let recovery = &*self.recovery;
        let what = if sending.selective { "A SACK" } else { "A duplicate ACK" };
        let rfc = Some((6675, "5"));
        Explanation::new(
            format!(
                "{what} says that a segment has left the network, and no loss is certain yet: the window has room for new data."
            ),
            rfc.filter(|_| sending.selective && recovery != "rack"),
            page_of_recovery(recovery),
        )
    }

    /// By how much an ACK makes the window larger in slow start, by the rule in force; its RFC and its page.
    fn slow_start_rule(&self, past: Past) -> (&'static str, Option<Rfc>, &'static str) {
        const ONE: &str = "by as much, at most a segment";
        let limited = match self.parts.jump {
            // RFC 4782 §4.4 asks for it after a jump.
            JumpChoice::QuickStart(jump) => past.jumped && !jump.unlimited,
            _ => false,
        };
        match &*self.slow_start {
            "limited" => (
                "at most by a segment, and by less beyond 100 of them",
                Some((3742, "2")),
                "hystart",
            ),
            _ if limited => (
                "at most by a segment, and by less beyond 100 of them",
                Some((3742, "2")),
                "hystart",
            ),
            "standard" => (ONE, Some((5681, "3.1")), "start"),
            "abc" => ("by as much, at most two segments", Some((3465, "2.2")), "start"),
            "hystartpp" => ("until the delay grows", Some((9406, "4.2")), "hystart"),
            "hystart" => ("until the delay grows", None, "hystart"),
            "search" => ("until deliveries fall behind", None, "search"),
            "rapidstart" => ("by twice as much until a queue builds up", None, "rapidstart"),
            _ => ("by as much", None, "start"),
        }
    }

    fn slow_start(&self, past: Past) -> Explanation {
        let law = &self.law;
        if self.owns_slow_start {
            let says = format!(
                "The start of {law}: an ACK took what it acknowledges off the network, and the law's window has room for this segment."
            );
            return Explanation::new(says, None, &self.page);
        }
        let (larger, rfc, page) = self.slow_start_rule(past);
        let says = format!(
            "Slow start: an ACK came, which takes what it acknowledges off the network and makes the window larger, {larger}."
        );
        Explanation::new(says, rfc, page)
    }

    fn avoidance(&self) -> Explanation {
        let law = &self.law;
        if self.models || self.owns_slow_start {
            let says = format!(
                "An ACK took what it acknowledges off the network, and the window of {law} has room for this segment."
            );
            return Explanation::new(says, None, &self.page);
        }
        Explanation::new(
            format!(
                "Congestion avoidance: an ACK came, and the window of {law} has room for this segment."
            ),
            self.growth,
            &self.page,
        )
    }
}

/// The page of a recovery.
fn page_of_recovery(word: &str) -> &str {
    if word == "prr" { "sack" } else { word }
}

/// The page of a law.
fn page_of(growth: GrowthChoice) -> String {
    let about = growth.about();
    if !about.page.is_empty() {
        return about.page.to_owned();
    }
    let kind = std::mem::discriminant(&growth);
    let first = GrowthChoice::rows().iter().find(|row| std::mem::discriminant(&row.choice) == kind);
    // A visitor's law has no row.
    first.map_or("README", |row| row.word).to_owned()
}

#[cfg(test)]
mod tests;
