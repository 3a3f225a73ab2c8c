//! Queues: the packets in front of a link, and the discipline, which says which packet is dequeued next.
//!
//! A discipline is one file of this folder. It says there all that is known of it ([`Described`]): its settings as a
//! scenario has them, its limits, whether it marks. Here it has one line, in `disciplines!`.

/// The beginning that `make new-queue` writes, with its tests.
#[cfg(test)]
#[path = "../../../scripts/new/queue.rs"]
mod beginning;
mod check;
mod contract;
mod fifo;
#[cfg(test)]
mod fixtures;
mod scheduled;
mod tins;
mod turns;
mod visitor;

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Rate, read_by_kind};

pub use crate::limit::{Limit, QueueLimit, QueueUnit};
pub use contract::{Admission, Described, Effect, Limits, Log, Queueing, Reason, Room};
pub use fifo::Waiting;
pub use scheduled::{Scheduled, Serving};
pub use tins::Diffserv;
pub use visitor::{OwnQueue, QueueFailed};

use crate::check::Refusal;
use visitor::Visitor;

/// The table of queueing disciplines: each is a file of this folder, and the type of its queue there.
macro_rules! disciplines {
    ($($module:ident::$Queue:ident,)*) => {
        $(mod $module; pub use $module::*;)*

        /// A queueing discipline, which says which packet is dequeued next, and its settings.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Discipline {
            $(
                #[doc = concat!("[`", stringify!($Queue), "`], with its settings.")]
                $Queue(<$Queue as Described>::Settings),
            )*
        }

        impl Discipline {
            /// [`Described::is_fifo`] of the discipline.
            fn is_fifo(&self) -> Option<bool> {
                match self {
                    $(Self::$Queue(settings) => <$Queue as Described>::is_fifo(settings),)*
                }
            }

            /// The limits, as written.
            pub fn limits(&self) -> Limits {
                match self {
                    $(Self::$Queue(settings) => <$Queue as Described>::limits(settings),)*
                }
            }

            /// True if it marks packets by itself.
            pub fn marks(&self) -> bool {
                match self {
                    $(Self::$Queue(settings) => <$Queue as Described>::marks(settings),)*
                }
            }

            /// The number of queues that it may come to have besides the first.
            pub fn queues(&self) -> u32 {
                match self {
                    $(Self::$Queue(settings) => <$Queue as Described>::queues(settings),)*
                }
            }

            /// True if it wants to know what packets acknowledge.
            pub fn filters_acks(&self) -> bool {
                match self {
                    $(Self::$Queue(settings) => <$Queue as Described>::filters_acks(settings),)*
                }
            }

            /// True if it sends no faster than at a rate of its own.
            pub fn shapes(&self) -> bool {
                match self {
                    $(Self::$Queue(settings) => <$Queue as Described>::shapes(settings),)*
                }
            }

            /// [`Described::passes`] of the discipline, which is resolved.
            pub fn passes(&self) -> Option<Rate> {
                match self {
                    $(Self::$Queue(settings) => <$Queue as Described>::passes(settings),)*
                }
            }

            /// True if packets have no DSCP any more behind it.
            pub fn washes(&self) -> bool {
                match self {
                    $(Self::$Queue(settings) => <$Queue as Described>::washes(settings),)*
                }
            }

            /// Checks settings that do not depend on the link.
            ///
            /// # Errors
            /// The first key that is wrong, and why.
            pub fn check(&self) -> Result<(), Refusal> {
                match self {
                    $(Self::$Queue(settings) => <$Queue as Described>::check(settings),)*
                }
            }

            /// The discipline in front of a link of `rate` whose longest base round trip is `rtt`.
            ///
            /// # Errors
            /// The values that do not go together there.
            pub fn resolve(self, rate: Rate, rtt: Duration) -> Result<Self, String> {
                match self {
                    $(Self::$Queue(settings) => {
                        <$Queue as Described>::resolve(settings, rate, rtt).map(Self::$Queue)
                    })*
                }
            }
        }

        read_by_kind! {
            Discipline: "QueueSpec",
            "The queue in front of a link, and its discipline: which packet is dequeued next.",
            $($Queue)*
        }

        /// A queue of the table, dispatched without an indirect call.
        #[derive(Clone, Debug)]
        enum Kind {
            $($Queue($Queue),)*
            /// A visitor's.
            Visitor(Visitor),
        }

        impl Kind {
            fn new(discipline: &Discipline, rate: Rate, random: Stream) -> Self {
                match discipline {
                    $(Discipline::$Queue(settings) => {
                        Self::$Queue(<$Queue as Described>::make(settings, rate, random))
                    })*
                }
            }
        }

        /// Calls the queue inside.
        macro_rules! each_kind {
            ($self:ident, $queue:ident, $log:ident => $call:expr) => {{
                let $log = &mut $self.log;
                match &mut $self.kind {
                    $(Kind::$Queue($queue) => $call,)*
                    Kind::Visitor($queue) => $call,
                }
            }};
        }
        use each_kind;
    };
}

disciplines! {
    drop_tail::DropTail,
    fair::Fair,
    red::Red,
    codel::CoDel,
    fq_codel::FqCoDel,
    pie::Pie,
    policer::Policer,
    cobalt::Cobalt,
    fq_cobalt::FqCobalt,
    drr::Drr,
    sfq::Sfq,
    prio::Prio,
    fq_pie::FqPie,
    cake::Cake,
}

impl Discipline {
    /// First in, first out, without limit.
    pub const FIFO: Self = Self::fifo(Limit::UNLIMITED);

    /// [`FIFO`](Self::FIFO) with departures that are events, for a link that changes.
    pub const RESCHEDULED_FIFO: Self = Self::FIFO.for_changes();

    /// First in, first out; an arrival that finds `limit` waiting is dropped.
    pub const fn fifo(limit: Limit) -> Self {
        Self::DropTail(DropTailConfig {
            limit,
            counts_in_service: false,
            mark: None,
            drop: DropEnd::Tail,
            reschedules: false,
        })
    }

    /// True if packets leave in the order in which they came, and nothing but a full queue drops one.
    pub fn is_drop_tail(&self) -> bool {
        self.is_fifo().is_some()
    }

    /// True if departures are known as packets come.
    pub fn knows_departures(&self) -> bool {
        self.is_fifo() == Some(true)
    }

    /// The discipline for a link that changes while packets wait, so that none of their departures is known.
    #[must_use]
    pub const fn for_changes(self) -> Self {
        match self {
            Self::DropTail(config) => {
                Self::DropTail(DropTailConfig { reschedules: true, ..config })
            }
            managed => managed,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn every_default() -> impl Iterator<Item = Discipline> {
        Discipline::KINDS.iter().map(|kind| {
            serde_json::from_value(json!({ "kind": kind.word })).expect("every key has a default")
        })
    }

    #[test]
    fn every_discipline_is_written_as_it_is_read() {
        for discipline in every_default() {
            let written = serde_json::to_value(discipline).unwrap();
            assert_eq!(written["kind"], discipline.kind());
            assert_eq!(serde_json::from_value::<Discipline>(written).unwrap(), discipline);
            assert_eq!(discipline.check(), Ok(()), "the defaults of {}", discipline.kind());
        }
    }

    #[test]
    fn settings_stand_beside_the_kind() {
        // The keys of FQ-CoDel's law are its own in a file.
        let table = json!({ "kind": "fq_codel", "target": "1 ms", "queues": 8 });
        let Discipline::FqCoDel(read) = serde_json::from_value(table).unwrap() else { panic!() };
        assert_eq!((read.law.target, read.queues), (Duration::from_millis(1), Some(8)));
        // RFC 8290 §5.2.3 and §4.1: 10240 packets, and ECN is on.
        assert_eq!((read.limit, read.ecn), (Limit::packets(10_240), true));
        let unknown = serde_json::from_value::<Discipline>(json!({ "kind": "fqcodel" }));
        assert!(
            unknown
                .unwrap_err()
                .to_string()
                .starts_with("unknown kind `fqcodel`, expected one of droptail")
        );
    }

    #[test]
    fn the_schema_has_a_closed_table_for_each_kind() {
        let schema = schemars::schema_for!(Discipline);
        let forms = schema.as_value()["oneOf"].as_array().unwrap().clone();
        assert_eq!(forms.len(), Discipline::KINDS.len());
        for (form, default) in forms.iter().zip(every_default()) {
            assert_eq!(form["properties"]["kind"]["const"], default.kind());
            assert_eq!(
                (&form["required"], &form["additionalProperties"]),
                (&json!(["kind"]), &json!(false))
            );
            assert!(!form["description"].as_str().unwrap().is_empty(), "{}", default.kind());
        }
    }

    #[test]
    fn a_queue_is_made_unless_departures_are_known() {
        let make = |discipline: Discipline| {
            let rate = Rate::from_bps(1_000_000);
            Scheduled::new(&discipline, rate, Stream::new(1, "queue")).is_some()
        };
        assert!(!make(Discipline::FIFO) && make(Discipline::RESCHEDULED_FIFO));
        assert!(every_default().map(Discipline::for_changes).all(make));
    }
}
