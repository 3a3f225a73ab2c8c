//! What the window is worth after silence, or after not being used.

mod contract;
mod cwv;
mod linux;
mod newcwv;
mod noidle;
mod rfc5681;

use ackclock_units::{Bytes, Duration};

use crate::event::{Ack, Proposal};

pub use contract::{Idle, Usage};
pub use cwv::{Cwv, CwvRto};
pub use linux::LinuxIdle;
pub use newcwv::NewCwv;
pub use noidle::NoIdle;
pub use rfc5681::{IdleClock, Rfc5681};

/// An idle rule, as a name spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleChoice {
    /// RFC 5681's restart window.
    Rfc5681 {
        /// From when silence counts.
        clock: IdleClock,
        /// The restart window in segments; `None` is the connection's first window.
        restart_window: Option<u32>,
    },
    /// RFC 2861's window validation.
    Cwv {
        /// The timeout that it counts.
        rto: CwvRto,
    },
    /// RFC 7661's.
    NewCwv,
    /// Linux's.
    Linux {
        /// Whether silence costs window (`tcp_slow_start_after_idle`).
        restart: bool,
    },
    /// None.
    NoIdle,
}

impl IdleChoice {
    /// As RFC 5681 has it.
    pub const RFC5681: Self = Self::Rfc5681 { clock: IdleClock::LastSend, restart_window: None };
    /// As ns-2 has it by default.
    pub const NS2: Self = Self::Rfc5681 { clock: IdleClock::Timer, restart_window: Some(1) };

    /// The choice that `word` and the `argument` in its parentheses spell, if they spell one.
    pub(crate) fn parse(word: &str, argument: Option<&str>) -> Option<Self> {
        let mut arguments = argument.into_iter().flat_map(|argument| argument.split(','));
        let choice = match word {
            "rfc5681" => {
                let (mut clock, mut restart_window) = (IdleClock::LastSend, None);
                for argument in arguments.by_ref() {
                    match argument.split_once('=') {
                        None if argument == "timer" && clock == IdleClock::LastSend => {
                            clock = IdleClock::Timer;
                        }
                        Some(("rw", digits)) if restart_window.is_none() => {
                            let segments: u32 = digits.parse().ok()?;
                            // `rw=01` would be a second spelling of `rw=1`.
                            if segments == 0 || segments > 1000 || digits != segments.to_string() {
                                return None;
                            }
                            restart_window = Some(segments);
                        }
                        _ => return None,
                    }
                }
                Self::Rfc5681 { clock, restart_window }
            }
            "cwv" => {
                let rto = match arguments.next() {
                    None | Some("rto=clamped") => CwvRto::Clamped,
                    Some("rto=unclamped") => CwvRto::Unclamped,
                    Some(argument) => {
                        let rto: Duration = argument.strip_prefix("rto=")?.parse().ok()?;
                        if rto == Duration::ZERO {
                            return None;
                        }
                        CwvRto::Fixed(rto)
                    }
                };
                Self::Cwv { rto }
            }
            _ => return None,
        };
        arguments.next().is_none().then_some(choice)
    }

    /// What `word` takes in its parentheses, for who wrote something else; `None` of a word that is
    /// not read here.
    pub(crate) fn expected(word: &str) -> Option<&'static str> {
        match word {
            "rfc5681" => Some("nothing, `timer`, `rw=1` (1 to 1000 segments) or `timer,rw=1`"),
            "cwv" => Some("nothing, `rto=unclamped`, or a time such as `rto=500ms`"),
            _ => None,
        }
    }

    /// The word, and its argument if it has one, of the choices that [`parse`](Self::parse) reads.
    pub(crate) fn spelled(self) -> Option<String> {
        match self {
            Self::Rfc5681 { clock, restart_window } => {
                let timer = (clock == IdleClock::Timer).then(|| "timer".to_owned());
                let window = restart_window.map(|segments| format!("rw={segments}"));
                let arguments: Vec<String> = timer.into_iter().chain(window).collect();
                Some(if arguments.is_empty() {
                    "rfc5681".to_owned()
                } else {
                    format!("rfc5681({})", arguments.join(","))
                })
            }
            Self::Cwv { rto: CwvRto::Clamped } => Some("cwv".to_owned()),
            Self::Cwv { rto: CwvRto::Unclamped } => Some("cwv(rto=unclamped)".to_owned()),
            Self::Cwv { rto: CwvRto::Fixed(rto) } => {
                Some(format!("cwv(rto={})", rto.to_string().replace(' ', "")))
            }
            Self::NewCwv | Self::Linux { .. } | Self::NoIdle => None,
        }
    }
}

/// The rules of the registry, and any other behind an indirect call.
#[derive(Debug)]
#[repr(u8)]
pub enum AnyIdle {
    /// RFC 5681's.
    Rfc5681(Rfc5681),
    /// RFC 2861's.
    Cwv(Cwv),
    /// RFC 7661's, which is large.
    NewCwv(Box<NewCwv>),
    /// Linux's.
    Linux(LinuxIdle),
    /// None.
    NoIdle(NoIdle),
    /// A user's own.
    Other(Box<dyn Idle>),
}

impl AnyIdle {
    /// The rule that `choice` names.
    pub fn new(choice: IdleChoice) -> Self {
        match choice {
            IdleChoice::Rfc5681 { clock, restart_window } => {
                Self::Rfc5681(Rfc5681::new(clock, restart_window))
            }
            IdleChoice::Cwv { rto } => Self::Cwv(Cwv::new(rto)),
            IdleChoice::NewCwv => Self::NewCwv(Box::default()),
            IdleChoice::Linux { restart } => Self::Linux(LinuxIdle::new(restart)),
            IdleChoice::NoIdle => Self::NoIdle(NoIdle),
        }
    }

    /// Whether it need not be asked before new data goes out; `unused` says that none ever went out, nor
    /// was acknowledged.
    #[inline]
    pub const fn says_nothing(&self, unused: bool) -> bool {
        match self {
            Self::NoIdle(_) => true,
            Self::Rfc5681(_) => unused,
            Self::Cwv(_) | Self::NewCwv(_) | Self::Linux(_) | Self::Other(_) => false,
        }
    }

    /// Whether it learns from ACKs, or keeps the window from growing by them.
    #[inline]
    pub const fn heeds_acks(&self) -> bool {
        !matches!(self, Self::NoIdle(_) | Self::Rfc5681(_))
    }

    /// The same as [`new`](Self::new), in the place of this one.
    pub fn renew(&mut self, choice: IdleChoice) {
        match (&mut *self, choice) {
            (Self::Rfc5681(rule), IdleChoice::Rfc5681 { clock, restart_window }) => {
                *rule = Rfc5681::new(clock, restart_window);
            }
            (rule, choice) => *rule = Self::new(choice),
        }
    }
}

macro_rules! each {
    ($self:ident, $rule:ident => $call:expr) => {
        match $self {
            AnyIdle::Rfc5681($rule) => $call,
            AnyIdle::Cwv($rule) => $call,
            AnyIdle::NewCwv($rule) => $call,
            AnyIdle::Linux($rule) => $call,
            AnyIdle::NoIdle($rule) => $call,
            AnyIdle::Other($rule) => $call,
        }
    };
}

impl Idle for AnyIdle {
    #[inline]
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        each!(self, rule => rule.before_send(usage))
    }

    #[inline]
    fn looks_after_bursts(&self) -> bool {
        each!(self, rule => rule.looks_after_bursts())
    }

    fn after_burst(&mut self, usage: &Usage) -> Option<Proposal> {
        each!(self, rule => rule.after_burst(usage))
    }

    #[inline]
    fn may_grow(&mut self, ack: &Ack, cwnd: Bytes, in_slow_start: bool) -> bool {
        each!(self, rule => rule.may_grow(ack, cwnd, in_slow_start))
    }

    fn on_loss(&mut self, usage: &Usage) -> Option<Bytes> {
        each!(self, rule => rule.on_loss(usage))
    }

    fn after_repair(&mut self, reduced_to: Bytes, again: Bytes) -> Option<Bytes> {
        each!(self, rule => rule.after_repair(reduced_to, again))
    }
}

#[cfg(test)]
mod tests;
