//! The numbers in the parentheses of `ccp(...)` and `ccpd(...)`.

use std::fmt;

/// The quantity that equation 5 or 6 gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The data that may go out beyond what is in flight: the window is the flight and the law.
    Incremental,
    /// The window itself, as printed.
    Literal,
}

/// The quantity B, the "storage capacity of the path, or virtual buffer size".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// The pipe and the buffer: capacity · the largest round-trip time.
    Path,
    /// The buffer: capacity · (the largest round-trip time − the least).
    Buffer,
}

/// The estimate of the path's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// By the pair of the last 10 to 20 s that met the least queue.
    Pairs,
    /// By the pair of the whole connection that shows the highest rate.
    Largest,
    /// The largest delivery rate of the whole connection, each over about a round trip.
    Delivery,
}

/// The settings of CCP or CCPD in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcpSettings {
    /// Kp, in thousandths.
    pub proportional_thousandths: u32,
    /// Kd, in microseconds; `None` for CCP, which has no derivative.
    pub derivative_us: Option<u32>,
    /// The quantity that the equation gives.
    pub reading: Reading,
    /// The quantity B.
    pub storage: Storage,
    /// The estimate of the capacity.
    pub estimate: Estimate,
}

/// The largest Kp, and the largest Kd in microseconds, that a name may say.
const LARGEST_PROPORTIONAL: u32 = 1000;
const LARGEST_DERIVATIVE_US: u32 = 1_000_000_000;

impl CcpSettings {
    /// `ccp(1)`.
    pub const CCP: Self = Self {
        proportional_thousandths: 1000,
        derivative_us: None,
        reading: Reading::Incremental,
        storage: Storage::Path,
        estimate: Estimate::Pairs,
    };

    /// `ccpd(1,2000)`.
    pub const CCPD: Self = Self { derivative_us: Some(2000), ..Self::CCP };

    /// The word of the law.
    pub const fn word(self) -> &'static str {
        if self.derivative_us.is_some() { "ccpd" } else { "ccp" }
    }

    /// The words that [`read`](Self::read) takes for this one.
    pub const fn expected(self) -> &'static str {
        if self.derivative_us.is_some() {
            "`Kp,Kd` with Kp up to 1000 in at most three decimals and Kd in whole microseconds, then \
             if wanted `literal`, `buffer`, and `largest` or `delivery`, as in `1,2000`"
        } else {
            "`Kp` up to 1000 in at most three decimals, then if wanted `literal`, `buffer`, and `largest` or \
             `delivery`, as in `1`"
        }
    }

    /// Kp.
    pub fn proportional(self) -> f64 {
        f64::from(self.proportional_thousandths) / 1000.0
    }

    /// Reads what stands in the parentheses after this one's word.
    pub fn read(self, argument: &str) -> Option<Self> {
        let mut words = argument.split(',');
        let mut read = Self { proportional_thousandths: thousandths(words.next()?)?, ..self };
        if self.derivative_us.is_some() {
            let kd = whole(words.next()?)?;
            read.derivative_us = Some(kd).filter(|kd| *kd <= LARGEST_DERIVATIVE_US);
            read.derivative_us?;
        }
        let (mut reading, mut storage, mut estimate) = (None, None, None);
        for word in words {
            let earlier = match word {
                "incremental" => reading.replace(Reading::Incremental).is_some(),
                "literal" => reading.replace(Reading::Literal).is_some(),
                "path" => storage.replace(Storage::Path).is_some(),
                "buffer" => storage.replace(Storage::Buffer).is_some(),
                "pairs" => estimate.replace(Estimate::Pairs).is_some(),
                "largest" => estimate.replace(Estimate::Largest).is_some(),
                "delivery" => estimate.replace(Estimate::Delivery).is_some(),
                _ => return None,
            };
            if earlier {
                return None;
            }
        }
        read.reading = reading.unwrap_or(Reading::Incremental);
        read.storage = storage.unwrap_or(Storage::Path);
        read.estimate = estimate.unwrap_or(Estimate::Pairs);
        Some(read)
    }
}

/// A number of digits, without zeros in front.
fn whole(text: &str) -> Option<u32> {
    let n: u32 = text.parse().ok()?;
    (n.to_string() == text).then_some(n)
}

/// A number above zero with at most three decimals.
fn thousandths(text: &str) -> Option<u32> {
    let (units, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let units = whole(units)?;
    if decimals.is_empty() || decimals.len() > 3 || !decimals.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n = units.checked_mul(1000)? + format!("{decimals:0<3}").parse::<u32>().ok()?;
    (1..=LARGEST_PROPORTIONAL * 1000).contains(&n).then_some(n)
}

impl fmt::Display for CcpSettings {
    /// Prints the words in the parentheses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.proportional_thousandths / 1000)?;
        if !self.proportional_thousandths.is_multiple_of(1000) {
            let decimals = format!("{:03}", self.proportional_thousandths % 1000);
            write!(f, ".{}", decimals.trim_end_matches('0'))?;
        }
        if let Some(kd) = self.derivative_us {
            write!(f, ",{kd}")?;
        }
        if self.reading == Reading::Literal {
            f.write_str(",literal")?;
        }
        if self.storage == Storage::Buffer {
            f.write_str(",buffer")?;
        }
        match self.estimate {
            Estimate::Pairs => Ok(()),
            Estimate::Largest => f.write_str(",largest"),
            Estimate::Delivery => f.write_str(",delivery"),
        }
    }
}
