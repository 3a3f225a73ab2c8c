//! Words: how the parts of a sender are named and described.
//!
//! A part is one file. It says there which words name it ([`Described`]), and what its family asks besides. A family
//! makes a choice of its parts, and a variant's name is one choice of each family.

use std::fmt::Debug;

use crate::Profile;

/// The places that a part's word can fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// The growth law.
    Growth,
    /// Which segments are lost, and what is sent while repairing.
    Recovery,
    /// The first window after the handshake.
    Window,
    /// The cost of a lost SYN or SYN-ACK to it.
    SynLoss,
    /// A jump past slow start.
    Jump,
    /// The slow-start law.
    SlowStart,
    /// The worth of the window after silence.
    Idle,
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Growth => "growth",
            Self::Recovery => "recovery",
            Self::Window => "first window",
            Self::SynLoss => "answer to a lost SYN",
            Self::Jump => "jump past slow start",
            Self::SlowStart => "slow-start law",
            Self::Idle => "idle rule",
        })
    }
}

/// A word that names a part, alone or with one argument in parentheses.
#[derive(Clone, Copy, Debug)]
pub struct Word<S> {
    /// The word, `[a-z0-9]+`, of one family only.
    pub word: &'static str,
    /// The argument, if this is the form that has one.
    pub argument: Option<&'static str>,
    /// The settings that it stands for.
    pub settings: S,
    /// One line of help.
    pub help: &'static str,
}

impl<S> Word<S> {
    /// A word without an argument.
    pub const fn alone(word: &'static str, settings: S, help: &'static str) -> Self {
        Self { word, argument: None, settings, help }
    }

    /// A word with `argument` in parentheses.
    pub const fn with(
        word: &'static str,
        argument: &'static str,
        settings: S,
        help: &'static str,
    ) -> Self {
        Self { word, argument: Some(argument), settings, help }
    }
}

/// A part that words name.
pub trait Described: Sized {
    /// The choices that a name makes within the part; `()` if there are none.
    type Settings: Copy + Debug + PartialEq + Eq + 'static;

    /// The words, the preferred one first.
    const WORDS: &'static [Word<Self::Settings>];

    /// The settings of `word` with an argument that [`WORDS`](Self::WORDS) does not list, such as a number.
    fn read(_word: &str, _argument: &str) -> Option<Self::Settings> {
        None
    }

    /// The settings of a `word` without an argument that [`WORDS`](Self::WORDS) cannot list, as it came while the process
    /// ran.
    fn named(_word: &str) -> Option<Self::Settings> {
        None
    }

    /// The arguments that [`read`](Self::read) takes after `word`, for the writer of another one.
    fn expected(_word: &str) -> Option<&'static str> {
        None
    }

    /// The word and the argument of settings that [`WORDS`](Self::WORDS) does not list.
    fn spell(_settings: Self::Settings) -> Option<String> {
        None
    }
}

/// A row of a family's table of words.
#[derive(Clone, Copy, Debug)]
pub struct Row<C> {
    /// The word.
    pub word: &'static str,
    /// The argument, if this is the form that has one.
    pub argument: Option<&'static str>,
    /// The choice.
    pub choice: C,
    /// One line of help.
    pub help: &'static str,
}

impl<C> Row<C> {
    /// The word, and its argument in parentheses.
    pub fn spelled(&self) -> String {
        match self.argument {
            None => self.word.to_owned(),
            Some(argument) => format!("{}({argument})", self.word),
        }
    }
}

/// A choice among the parts of a family.
pub trait Choice: Copy + PartialEq + 'static {
    /// The place in a name.
    const SLOT: Slot;

    /// Words with numbers in them, and a line of help for each: `<N>` or capitals stand for the numbers.
    const FORMS: &'static [(&'static str, &'static str)] = &[];

    /// Every word, in the order of the table.
    fn rows() -> &'static [Row<Self>];

    /// The choice of `word` with `argument`, if that is no row.
    fn read(word: &str, argument: Option<&str>) -> Option<Self>;

    /// The arguments that [`read`](Self::read) takes after `word`.
    fn expected(_word: &str) -> Option<&'static str> {
        None
    }

    /// The spelling of a choice that is no row.
    fn spell(self) -> Option<String>;

    /// The choice that `text` spells, if it spells one.
    fn parse(text: &str) -> Option<Self> {
        let (word, argument) = split(text);
        let row = Self::rows().iter().find(|row| row.word == word && row.argument == argument);
        row.map(|row| row.choice).or_else(|| Self::read(word, argument))
    }

    /// The word of this choice, and its argument if it has one.
    fn spelled(self) -> String {
        let row = || Self::rows().iter().find(|row| row.choice == self);
        self.spell()
            .or_else(|| row().map(Row::spelled))
            .unwrap_or_else(|| unreachable!("every choice has a word"))
    }
}

/// A word and the argument in its parentheses.
pub fn split(text: &str) -> (&str, Option<&str>) {
    match text.split_once('(').map(|(word, rest)| (word, rest.strip_suffix(')'))) {
        Some((word, Some(argument))) => (word, Some(argument)),
        _ => (text, None),
    }
}

/// A whole number in its only spelling: `03` would be a second one of `3`.
pub fn whole_number(text: &str, least: u32, most: u32) -> Option<u32> {
    let n = text.parse::<u32>().ok()?;
    ((least..=most).contains(&n) && text == n.to_string()).then_some(n)
}

/// Words of other families that come with a law under some profiles, where its name says nothing else.
pub type Defaults = &'static [(&'static [Profile], &'static str)];

/// Every profile.
pub const ANY: &[Profile] = &[Profile::Rfc, Profile::Linux, Profile::Ns2];

/// Makes the choice of a family out of its parts.
#[macro_export]
macro_rules! choices {
    ($(#[$doc:meta])* $Choice:ident of $slot:ident: $($Part:ident),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Choice {
            $(
                #[doc = concat!("[`", stringify!($Part), "`], with its settings.")]
                $Part(<$Part as $crate::words::Described>::Settings),
            )*
        }

        impl $crate::words::Choice for $Choice {
            const SLOT: $crate::words::Slot = $crate::words::Slot::$slot;

            fn rows() -> &'static [$crate::words::Row<Self>] {
                use $crate::words::{Described, Row};
                static ROWS: std::sync::LazyLock<Vec<Row<$Choice>>> =
                    std::sync::LazyLock::new(|| {
                        let mut rows = Vec::new();
                        $(
                            rows.extend(<$Part as Described>::WORDS.iter().map(|word| Row {
                                word: word.word,
                                argument: word.argument,
                                choice: $Choice::$Part(word.settings),
                                help: word.help,
                            }));
                        )*
                        rows
                    });
                &ROWS
            }

            fn read(word: &str, argument: Option<&str>) -> Option<Self> {
                use $crate::words::Described;
                let Some(argument) = argument else {
                    return None$(.or_else(|| <$Part as Described>::named(word).map(Self::$Part)))*;
                };
                $(
                    if <$Part as Described>::WORDS.iter().any(|known| known.word == word) {
                        return <$Part as Described>::read(word, argument).map(Self::$Part);
                    }
                )*
                None
            }

            fn expected(word: &str) -> Option<&'static str> {
                use $crate::words::Described;
                None$(.or_else(|| <$Part as Described>::expected(word)))*
            }

            fn spell(self) -> Option<String> {
                use $crate::words::Described;
                match self {
                    $(Self::$Part(settings) => <$Part as Described>::spell(settings),)*
                }
            }
        }
    };
}
pub use choices;
