//! Applications as a scenario names them: the data that a flow sends, and when.
//!
//! An application is one file of this folder. It says there all that is known of it ([`Described`]): its settings as a
//! scenario has them, its checks, its load, its two ends. Here it has one line, in `applications!`.

mod contract;

use std::borrow::Cow;

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Rate, read_by_kind};

use crate::{AnyApp, Moment, Transport};

pub use contract::{Described, Load, Other, Refusal};

/// The applications of a flow's sender and receiver, on transports of some kind.
pub type Apps<T> = (AnyApp<T>, AnyApp<T>);

/// The table of applications: each is a file of this folder, and its type there.
macro_rules! applications {
    ($($module:ident::$App:ident,)*) => {
        $(mod $module; pub use $module::*;)*

        /// An application, which asks for data, and its settings.
        #[derive(Clone, Debug)]
        pub enum Application {
            $(
                #[doc = concat!("[`", stringify!($App), "`], with its settings.")]
                $App(<$App as Described>::Settings),
            )*
        }

        impl Application {
            /// The words of the kinds that a simulation plays.
            fn simulated() -> Vec<&'static str> {
                let mut words = Vec::new();
                $(if !<$App as Described>::LIVE_ALONE {
                    words.push(<$App as Described>::KIND);
                })*
                words
            }

            /// True if both of its ends need the same kind of transport in a live run.
            pub const fn needs_one_transport(&self) -> bool {
                match self {
                    $(Self::$App(_) => <$App as Described>::NEEDS_ONE_TRANSPORT,)*
                }
            }

            /// True if it reports its own measurement at its end.
            pub const fn reports(&self) -> bool {
                match self {
                    $(Self::$App(_) => <$App as Described>::REPORTS,)*
                }
            }

            /// The volume of one transfer, given as the connection opens: [`Bytes::UNLIMITED`] if it has no end; `None`
            /// of every other application.
            pub fn transfer(&self) -> Option<Bytes> {
                match self {
                    $(Self::$App(settings) => <$App as Described>::transfer(settings),)*
                }
            }

            /// True if its data has an end.
            pub fn is_sized(&self) -> bool {
                match self {
                    $(Self::$App(settings) => <$App as Described>::is_sized(settings),)*
                }
            }

            /// True if the receiver opens the connection, as one that asks for a video does.
            pub fn receiver_opens(&self) -> bool {
                match self {
                    $(Self::$App(settings) => <$App as Described>::receiver_opens(settings),)*
                }
            }

            /// The rate that it asks the routers for by itself.
            pub fn asks(&self) -> Option<Rate> {
                match self {
                    $(Self::$App(settings) => <$App as Described>::asks(settings),)*
                }
            }

            /// The number of events of this kind that its flow has.
            pub fn events(&self, moment: Moment) -> usize {
                match self {
                    $(Self::$App(settings) => <$App as Described>::events(settings, moment),)*
                }
            }

            /// The programs on the flow's hosts, if that is what it is.
            pub fn program(&self) -> Option<Cow<'_, ProgramConfig>> {
                match self {
                    $(Self::$App(settings) => <$App as Described>::program(settings),)*
                }
            }

            /// The programs that somebody has to allow before they run.
            pub fn to_be_allowed(&self) -> Option<Cow<'_, ProgramConfig>> {
                match self {
                    $(Self::$App(settings) => <$App as Described>::to_be_allowed(settings),)*
                }
            }

            /// The load in `seconds`. Settings that the check refuses later have any.
            pub fn load(&self, seconds: f64) -> Load {
                match self {
                    $(Self::$App(settings) => <$App as Described>::load(settings, seconds),)*
                }
            }

            /// Checks the settings, in a run that lasts so long.
            ///
            /// # Errors
            /// The first key that is wrong, and why.
            pub fn check(&self, lasts: Duration) -> Result<(), Refusal> {
                match self {
                    $(Self::$App(settings) => <$App as Described>::check(settings, lasts),)*
                }
            }

            /// The applications of a flow's sender and receiver, which draw from the streams that `stream` names.
            ///
            /// # Errors
            /// The key that is wrong, and why; programs, which none of ours plays.
            pub fn apps<T: Transport>(
                &self,
                stream: &dyn Fn(&str) -> Stream,
            ) -> Result<Apps<T>, Refusal> {
                match self {
                    $(Self::$App(settings) => match <$App as Described>::apps(settings, stream) {
                        Ok((sender, receiver)) => Ok((sender.into(), receiver.into())),
                        Err(refusal) if <$App as Described>::LIVE_ALONE => Err(with_simulated(refusal)),
                        Err(refusal) => Err(refusal),
                    },)*
                }
            }
        }

        read_by_kind! {
            Application: "AppSpec", "The application, which asks for data.", $($App)*
        }
    };
}

applications! {
    bulk::Bulk,
    cbr::Cbr,
    onoff::OnOff,
    bursts::Bursts,
    frames::Frames,
    video::Video,
    dash::Dash,
    program::Program,
    iperf3::Iperf3,
}

/// The refusal of an application that a simulation does not play, with the words of those that it does.
fn with_simulated((key, why): Refusal) -> Refusal {
    let words: Vec<String> =
        Application::simulated().iter().map(|word| format!("`{word}`")).collect();
    (key, format!("{why}; expected one of {}", words.join(", ")))
}

impl Default for Application {
    fn default() -> Self {
        Self::Bulk(BulkConfig::default())
    }
}

/// The beginning that `make new-app` writes, with its tests.
#[cfg(test)]
#[path = "../../../scripts/new/app.rs"]
mod beginning;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_application_is_written_as_it_is_read() {
        let table = json!({ "kind": "cbr", "rate": "80 kbit/s", "message": "100 B",
            "idle": [{ "at": { "uniform": ["1 s", "2 s"] }, "for": "5 s" }] });
        let app: Application = serde_json::from_value(table.clone()).unwrap();
        assert_eq!(serde_json::to_value(&app).unwrap(), table);
        assert_eq!((app.kind(), app.events(Moment::Resume), app.is_sized()), ("cbr", 1, false));
        // The receiver of a video opens the connection; that of no other application does.
        assert!(!app.receiver_opens() && !Application::default().receiver_opens());
        let default = serde_json::to_value(Application::default()).unwrap();
        assert_eq!(default, json!({ "kind": "bulk" }));
    }

    #[test]
    fn the_schema_has_a_closed_table_for_each_kind() {
        let schema = schemars::schema_for!(Application);
        let forms = schema.as_value()["oneOf"].as_array().unwrap().clone();
        assert_eq!(forms.len(), Application::KINDS.len());
        for (form, kind) in forms.iter().zip(Application::KINDS) {
            assert_eq!(form["properties"]["kind"]["const"], kind.word);
            assert_eq!(form["required"][0], "kind");
            assert_eq!(form["additionalProperties"], false);
        }
    }
}
