//! Every word that a variant's name may contain.

use super::{Part, Slot};
use crate::growth::{CcpSettings, GrowthChoice, LawForm, RenoWord};
use crate::idle::{CwvRto, IdleChoice, IdleClock};
use crate::recovery::RecoveryChoice;
use crate::start::{
    JumpChoice, QuickStartJump, ResumeJump, SlowStartChoice, SynLossChoice, WindowChoice,
};
use ackclock_packet::QuickStartRate;
use ackclock_units::Duration;

/// A row of the registry: a word, its arguments, what it means, and a line of help.
pub struct Entry {
    /// The word, `[a-z0-9]+`, unique over all slots.
    pub word: &'static str,
    /// The argument in parentheses, if this row is the form that has one.
    pub argument: Option<&'static str>,
    /// The choice.
    pub part: Part,
    /// One line of help.
    pub help: &'static str,
}

const fn entry(word: &'static str, part: Part, help: &'static str) -> Entry {
    Entry { word, argument: None, part, help }
}

/// Every word a name may contain: a new idea adds one file in a folder of the `tcp` crate and one
/// row here. Among words of one growth law the printer prefers the first.
pub const REGISTRY: &[Entry] = &[
    entry(
        "tahoe",
        Part::Growth(GrowthChoice::Tahoe),
        "1/floor(W) segments per ACK in congestion avoidance; window of one segment after a loss",
    ),
    Entry {
        word: "tahoe",
        argument: Some("bytes"),
        part: Part::Growth(GrowthChoice::TahoeBytes),
        help: "Tahoe, growing by one segment per window of bytes acknowledged (RFC 5681 §3.1)",
    },
    entry(
        "newreno",
        Part::Growth(GrowthChoice::Reno { word: RenoWord::NewReno, form: None }),
        "RFC 5681's law with RFC 6582's recovery",
    ),
    entry(
        "reno",
        Part::Growth(GrowthChoice::Reno { word: RenoWord::Reno, form: None }),
        "RFC 5681: one segment per window, half after a loss",
    ),
    Entry {
        word: "reno",
        argument: Some("rfc5681"),
        part: Part::Growth(GrowthChoice::Reno {
            word: RenoWord::Reno,
            form: Some(LawForm::Published),
        }),
        help: "Reno in bytes, which is the form of `rfc` and `ns2`",
    },
    Entry {
        word: "reno",
        argument: Some("linux"),
        part: Part::Growth(GrowthChoice::Reno { word: RenoWord::Reno, form: Some(LawForm::Linux) }),
        help: "Reno as Linux has it, in whole segments",
    },
    entry(
        "cubic",
        Part::Growth(GrowthChoice::Cubic { form: None }),
        "a cubic curve of time around the last loss, at least Reno's window; the profile's form",
    ),
    Entry {
        word: "cubic",
        argument: Some("rfc9438"),
        part: Part::Growth(GrowthChoice::Cubic { form: Some(LawForm::Published) }),
        help: "CUBIC as RFC 9438 has it, which is the form of `rfc` and `ns2`",
    },
    Entry {
        word: "cubic",
        argument: Some("linux"),
        part: Part::Growth(GrowthChoice::Cubic { form: Some(LawForm::Linux) }),
        help: "CUBIC as Linux has it, in whole segments and milliseconds",
    },
    entry(
        "highspeed",
        Part::Growth(GrowthChoice::HighSpeed { form: None }),
        "Reno below 38 segments, bolder above (RFC 3649)",
    ),
    Entry {
        word: "highspeed",
        argument: Some("rfc3649"),
        part: Part::Growth(GrowthChoice::HighSpeed { form: Some(LawForm::Published) }),
        help: "HSTCP by the formulas of RFC 3649, which is the form of `rfc` and `ns2`",
    },
    Entry {
        word: "highspeed",
        argument: Some("linux"),
        part: Part::Growth(GrowthChoice::HighSpeed { form: Some(LawForm::Linux) }),
        help: "HSTCP as Linux has it, by the table of RFC 3649 and ACK by ACK",
    },
    entry(
        "vegas",
        Part::Growth(GrowthChoice::Vegas { form: None }),
        "two to four segments waiting at the bottleneck (Brakmo and Peterson 1995)",
    ),
    Entry {
        word: "vegas",
        argument: Some("paper"),
        part: Part::Growth(GrowthChoice::Vegas { form: Some(LawForm::Published) }),
        help: "Vegas as the paper has it, which is the form of `rfc` and `ns2`",
    },
    Entry {
        word: "vegas",
        argument: Some("linux"),
        part: Part::Growth(GrowthChoice::Vegas { form: Some(LawForm::Linux) }),
        help: "Vegas as Linux has it, by the smallest round-trip time of a round",
    },
    entry(
        "compound",
        Part::Growth(GrowthChoice::Compound),
        "Reno's window and one that grows while there is no queue (draft-sridharan-tcpm-ctcp-02)",
    ),
    Entry {
        word: "ccp",
        argument: Some("1"),
        part: Part::Growth(GrowthChoice::Ccp(CcpSettings::CCP)),
        help: "the path's storage less its backlog (Watanabe 2013, eq. 5): `Kp`, then `literal`, `buffer`",
    },
    Entry {
        word: "ccpd",
        argument: Some("1,2000"),
        part: Part::Growth(GrowthChoice::Ccp(CcpSettings::CCPD)),
        help: "the same with a derivative (eq. 6): `Kp,Kd`, Kd in microseconds, then `literal`, `buffer`",
    },
    entry(
        "playout",
        Part::Growth(GrowthChoice::Playout),
        "made for video: paced, four segments waiting, losses without a queue cost nothing",
    ),
    entry(
        "dctcp",
        Part::Growth(GrowthChoice::Dctcp { form: None }),
        "reduced by the share of its data that met congestion marks (RFC 8257); asks for ECN",
    ),
    Entry {
        word: "dctcp",
        argument: Some("rfc8257"),
        part: Part::Growth(GrowthChoice::Dctcp { form: Some(LawForm::Published) }),
        help: "DCTCP as RFC 8257 has it, which is the form of `rfc` and `ns2`",
    },
    Entry {
        word: "dctcp",
        argument: Some("linux"),
        part: Part::Growth(GrowthChoice::Dctcp { form: Some(LawForm::Linux) }),
        help: "DCTCP as Linux has it, with the share in 1024ths",
    },
    entry(
        "bbr",
        Part::Growth(GrowthChoice::Bbr),
        "paced at the path's bandwidth, within what it holds without much loss (draft-ietf-ccwg-bbr-06)",
    ),
    entry(
        "bbr1",
        Part::Growth(GrowthChoice::Bbr1),
        "paced at the path's bandwidth, window of two bandwidth-delay products (BBR v1, as Linux has it)",
    ),
    entry(
        "rcp",
        Part::Growth(GrowthChoice::Rcp),
        "paced at the rate that routers offer to every flow (RCP, Dukkipati et al. 2005)",
    ),
    entry(
        "xcp",
        Part::Growth(GrowthChoice::Xcp),
        "a window that grows and shrinks by what routers say (XCP, Katabi et al. 2002)",
    ),
    entry(
        "gobackn",
        Part::Recovery(RecoveryChoice::GoBackN),
        "resend everything from the lost segment",
    ),
    entry(
        "fastrecovery",
        Part::Recovery(RecoveryChoice::FastRecovery),
        "fast retransmit and fast recovery (RFC 5681 §3.2)",
    ),
    entry(
        "partialack",
        Part::Recovery(RecoveryChoice::PartialAck),
        "fast recovery that stays until all is repaired (RFC 6582)",
    ),
    entry(
        "rack",
        Part::Recovery(RecoveryChoice::Rack),
        "losses by time, tail loss probes (RFC 8985), proportional rate reduction",
    ),
    entry("sack", Part::Recovery(RecoveryChoice::Sack), "selective acknowledgments (RFC 6675)"),
    entry(
        "prr",
        Part::Recovery(RecoveryChoice::Prr),
        "SACK with proportional rate reduction (RFC 9937)",
    ),
    entry(
        "rfc3390",
        Part::Window(WindowChoice::Rfc3390),
        "min(4 MSS, max(2 MSS, 4380 B)) (RFC 3390)",
    ),
    Entry {
        word: "synloss",
        argument: Some("rfc5681"),
        part: Part::SynLoss(SynLossChoice::Rfc5681),
        help: "a window of one segment after a lost SYN or SYN-ACK (RFC 5681 §3.1)",
    },
    Entry {
        word: "synloss",
        argument: Some("rfc6928"),
        part: Part::SynLoss(SynLossChoice::Rfc6928),
        help: "the same, but only after two, and not after a spurious timeout (RFC 6928 §2, Linux)",
    },
    Entry {
        word: "synloss",
        argument: Some("ns2"),
        part: Part::SynLoss(SynLossChoice::Ns2),
        help: "the whole window, and a threshold of two segments (ns-2's FullTcp)",
    },
    Entry {
        word: "quickstart",
        argument: Some("5.12Mbps"),
        part: Part::Jump(JumpChoice::QuickStart(QuickStartJump {
            rate: QuickStartRate::EXAMPLE,
            ssthresh_approved: false,
        })),
        help: "asks the routers for a rate (RFC 4782); `approved` behind it sets ssthresh, too",
    },
    entry(
        "jumpstart",
        Part::Jump(JumpChoice::JumpStart),
        "paces all that there is to send over the first round trip (Jump Start, Liu et al. 2007)",
    ),
    Entry {
        word: "resume",
        argument: Some("1000,100ms"),
        part: Part::Jump(JumpChoice::Resume(ResumeJump::EXAMPLE)),
        help: "jumps to half of the window that an earlier connection had (Careful Resume, RFC 9959)",
    },
    entry(
        "standard",
        Part::SlowStart(SlowStartChoice::Standard),
        "one segment per ACK (RFC 5681 §3.1)",
    ),
    entry(
        "abc",
        Part::SlowStart(SlowStartChoice::Abc),
        "the bytes of an ACK, at most two segments (RFC 3465)",
    ),
    Entry {
        word: "abc",
        argument: Some("unlimited"),
        part: Part::SlowStart(SlowStartChoice::AbcUnlimited),
        help: "all that an ACK delivers, up to the threshold (Linux)",
    },
    entry(
        "hystartpp",
        Part::SlowStart(SlowStartChoice::HyStartPlusPlus),
        "slow start that slows down, then ends, when the delay grows (HyStart++, RFC 9406)",
    ),
    entry(
        "hystart",
        Part::SlowStart(SlowStartChoice::HyStart),
        "slow start that ends when the delay or the train of ACKs grows (Linux)",
    ),
    entry(
        "limited",
        Part::SlowStart(SlowStartChoice::Limited),
        "at most 50 segments per round trip beyond 100 segments (RFC 3742)",
    ),
    entry(
        "rfc5681",
        Part::Idle(IdleChoice::RFC5681),
        "restart window after an RTO without sending (RFC 5681 §4.1)",
    ),
    Entry {
        word: "rfc5681",
        argument: Some("timer"),
        part: Part::Idle(IdleChoice::Rfc5681 { clock: IdleClock::Timer, restart_window: None }),
        help: "the same, with the RTO counted from the ACK of everything",
    },
    Entry {
        word: "rfc5681",
        argument: Some("rw=1"),
        part: Part::Idle(IdleChoice::Rfc5681 {
            clock: IdleClock::LastSend,
            restart_window: Some(1),
        }),
        help: "a restart window of so many segments",
    },
    Entry {
        word: "rfc5681",
        argument: Some("timer,rw=1"),
        part: Part::Idle(IdleChoice::NS2),
        help: "both, as ns-2 has it",
    },
    entry(
        "cwv",
        Part::Idle(IdleChoice::Cwv { rto: CwvRto::Clamped }),
        "only a full window grows; silence halves it once an RTO, down to a segment (RFC 2861)",
    ),
    Entry {
        word: "cwv",
        argument: Some("rto=unclamped"),
        part: Part::Idle(IdleChoice::Cwv { rto: CwvRto::Unclamped }),
        help: "the same, with an RTO that has no minimum",
    },
    Entry {
        word: "cwv",
        argument: Some("rto=500ms"),
        part: Part::Idle(IdleChoice::Cwv { rto: CwvRto::Fixed(Duration::from_millis(500)) }),
        help: "the same, counting a fixed time, of any length",
    },
    entry(
        "newcwv",
        Part::Idle(IdleChoice::NewCwv),
        "the window is kept for 5 min; a loss is answered from what was used of it (RFC 7661)",
    ),
    entry(
        "linuxidle",
        Part::Idle(IdleChoice::Linux { restart: true }),
        "only a full window grows; silence halves it once an RTO (Linux, after RFC 2861)",
    ),
    Entry {
        word: "linuxidle",
        argument: Some("norestart"),
        part: Part::Idle(IdleChoice::Linux { restart: false }),
        help: "only a full window grows; silence costs nothing (tcp_slow_start_after_idle=0)",
    },
    entry("noidle", Part::Idle(IdleChoice::NoIdle), "the window keeps its worth"),
];

/// A word with numbers in it, which the registry cannot list one by one.
pub struct Form {
    /// How it is written, with capitals or `<N>` for the numbers.
    pub text: &'static str,
    /// The slot that it fills.
    pub slot: Slot,
    /// One line of help.
    pub help: &'static str,
}

/// The words with numbers in them.
pub const FORMS: &[Form] = &[
    Form { text: "iw<N>", slot: Slot::Window, help: "N segments, 1 to 1000" },
    Form {
        text: "tsl(IW,SSTHRESH)",
        slot: Slot::SynLoss,
        help: "after a lost SYN or SYN-ACK a window of IW and a threshold of SSTHRESH segments (TSL)",
    },
    Form {
        text: "quickstart(RATE)",
        slot: Slot::Jump,
        help: "asks the routers for that rate, 80kbps to 1310.72Mbps, rounded down to 40kbps * 2^N",
    },
    Form {
        text: "quickstart(RATE,approved)",
        slot: Slot::Jump,
        help: "the same, and the slow-start threshold becomes the approved window",
    },
    Form {
        text: "resume(CWND,RTT)",
        slot: Slot::Jump,
        help: "the same, of a saved window of CWND segments (2 to 1000000) and a saved round-trip time",
    },
    Form {
        text: "tsl(half,IW,SSTHRESH)",
        slot: Slot::SynLoss,
        help: "both halved for each lost SYN or SYN-ACK, down to so many segments (TSL)",
    },
];
