//! Traces of a congestion control: CSV, plain or compressed by gzip.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use ackclock_laws::event::CaState;
use ackclock_tcp::judge::law_trace::{Kind, Row};
use ackclock_units::Duration;

use crate::{BadInput, did_you_mean, printable, problem};

/// The most rows that are read: what follows may be a file without an end.
const MOST_ROWS: usize = 5_000_000;
/// The largest count of segments in an event.
const MOST_SEGMENTS: i64 = 1 << 24;
/// The longest time in an event, in microseconds: a day.
const LONGEST_US: i64 = 86_400_000_000;
/// The longest line: a trace has some thirty columns.
const LONGEST_LINE: u64 = 4096;

/// The columns that a trace has, and those that it may have.
const NEEDED: [&str; 13] = [
    "dt_us",
    "kind",
    "acked_pkts",
    "delivered_pkts",
    "rtt_us",
    "in_flight_pkts",
    "cwnd_limited",
    "unacked_pkts",
    "calls",
    "state",
    "cwnd",
    "ssthresh",
    "aux",
];
const OPTIONAL: [&str; 4] = ["rs_inflight_pkts", "ts_age_ms", "rand", "ce"];

const KINDS: [(&str, Kind); 9] = [
    ("init", Kind::Init),
    ("ack", Kind::Ack),
    ("ecn_ack", Kind::Ack),
    ("dupack", Kind::DupAck),
    ("enter_recovery", Kind::EnterRecovery),
    ("exit_recovery", Kind::ExitRecovery),
    ("undo", Kind::Undo),
    ("timeout", Kind::Timeout),
    ("idle_restart", Kind::IdleRestart),
];
const STATES: [(&str, CaState); 5] = [
    ("Open", CaState::Open),
    ("Disorder", CaState::Disorder),
    ("CWR", CaState::Cwr),
    ("Recovery", CaState::Recovery),
    ("Loss", CaState::Loss),
];

/// The places of the columns.
struct Header {
    needed: [usize; NEEDED.len()],
    optional: [Option<usize>; OPTIONAL.len()],
    width: usize,
}

impl Header {
    fn read(line: &str) -> Result<Self, String> {
        let names: Vec<&str> = line.split(',').collect();
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        let mut needed = [0; NEEDED.len()];
        for (at, wanted) in needed.iter_mut().zip(NEEDED) {
            *at = place(wanted).ok_or_else(|| format!("column `{wanted}` is missing"))?;
        }
        Ok(Self { needed, optional: OPTIONAL.map(place), width: names.len() })
    }
}

/// A row of the file, with its fields by name.
struct Line<'a> {
    fields: Vec<&'a str>,
    header: &'a Header,
}

impl Line<'_> {
    fn text(&self, column: &str) -> Option<&str> {
        let needed = NEEDED.iter().position(|name| *name == column);
        let optional = || OPTIONAL.iter().position(|name| *name == column);
        let place =
            needed.map(|n| self.header.needed[n]).or_else(|| self.header.optional[optional()?])?;
        self.fields.get(place).copied()
    }

    fn needed(&self, column: &str) -> &str {
        self.text(column).unwrap_or_default()
    }

    fn whole(&self, column: &str, least: i64, most: i64) -> Result<i64, String> {
        let text = self.needed(column);
        let number = text.parse::<i64>().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            let least = if least < 0 { ", or -1 for none" } else { "" };
            format!("column `{column}`: `{text}`, expected a whole number up to {most}{least}")
        })
    }

    fn count(&self, column: &str) -> Result<u64, String> {
        Ok(self.whole(column, 0, MOST_SEGMENTS)?.unsigned_abs())
    }

    /// A number, or -1 for none; a file may lack the column.
    fn maybe(&self, column: &str, most: i64) -> Result<Option<u64>, String> {
        if self.text(column).is_none() {
            return Ok(None);
        }
        Ok(u64::try_from(self.whole(column, -1, most)?).ok())
    }

    fn word<T: Copy>(&self, column: &str, known: &[(&str, T)]) -> Result<T, String> {
        let text = self.needed(column);
        let found = known.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words = known.iter().map(|(word, _)| *word);
            format!("column `{column}`: `{text}` is not known{}", did_you_mean(text, words))
        })
    }

    fn row(&self) -> Result<Row, String> {
        let calls = self.needed("calls");
        let kind = self.word("kind", &KINDS)?;
        let micros = |column| self.maybe(column, LONGEST_US);
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(Row {
            kind,
            after: Duration::from_micros(self.whole("dt_us", 0, LONGEST_US)?.unsigned_abs()),
            acked: self.count("acked_pkts")?,
            delivered: self.count("delivered_pkts")?,
            rtt: micros("rtt_us")?.map(Duration::from_micros),
            in_flight: self.count("in_flight_pkts")?,
            limited: self.whole("cwnd_limited", -1, 1)? != 0,
            unacked: self.count("unacked_pkts")?,
            echo: self.maybe("ce", 1)? == Some(1) || self.needed("kind") == "ecn_ack",
            timeout: Duration::from_millis(self.whole("aux", 0, LONGEST_US / 1000)?.unsigned_abs()),
            starts: calls.contains('t'),
            reduces: calls.contains('h'),
            undoes: calls.contains('u'),
            delivered_since_sent: self.maybe("rs_inflight_pkts", MOST_SEGMENTS)?,
            stamp_age: self.maybe("ts_age_ms", u32::MAX.into())?.map(small),
            drawn: self.maybe("rand", u32::MAX.into())?.map(small),
            state: self.word("state", &STATES)?,
            cwnd: self.count("cwnd")?,
            ssthresh: self.maybe("ssthresh", i64::from(u32::MAX))?,
        })
    }
}

/// The rows of a trace in a file.
///
/// # Errors
/// The file cannot be read, or is no trace: the line and the column.
pub fn read_law_trace(path: &Path) -> Result<Vec<Row>, BadInput> {
    let name = printable(&path.display().to_string(), 200);
    let opened = crate::open(path);
    let file = opened.map_err(|why| BadInput::new(format_args!("{name}: {}", problem(&why))))?;
    let mut file = BufReader::new(file);
    let gzip = file.fill_buf().is_ok_and(|begin| begin.starts_with(&[0x1f, 0x8b]));
    if gzip {
        rows(&name, BufReader::new(flate2::read::MultiGzDecoder::new(file)))
    } else {
        rows(&name, file)
    }
}

fn rows(name: &str, mut text: impl BufRead) -> Result<Vec<Row>, BadInput> {
    let mut line = String::new();
    let mut number = 0;
    let mut next = |line: &mut String, number: &mut usize| -> Result<bool, BadInput> {
        line.clear();
        *number += 1;
        let read = text.by_ref().take(LONGEST_LINE).read_line(line);
        let why = match read {
            Ok(0) => return Ok(false),
            Ok(_) if line.len() as u64 == LONGEST_LINE => "the line is too long".to_owned(),
            Ok(_) => return Ok(true),
            Err(why) => problem(&why),
        };
        Err(BadInput::new(format_args!("{name}, line {number}: {why}")))
    };
    let at = |number: usize, why: &str| BadInput::new(format_args!("{name}, line {number}: {why}"));
    if !next(&mut line, &mut number)? {
        return Err(BadInput::new(format_args!("{name}: the file is empty, expected a trace")));
    }
    let header = Header::read(line.trim_end()).map_err(|why| at(number, &why))?;
    let mut rows: Vec<Row> = Vec::new();
    while next(&mut line, &mut number)? {
        let fields: Vec<&str> = line.trim_end().split(',').collect();
        if fields.len() != header.width {
            let why = format!("{} columns, the first line has {}", fields.len(), header.width);
            return Err(at(number, &why));
        }
        let row = Line { fields, header: &header }.row().map_err(|why| at(number, &why))?;
        if rows.is_empty() != (row.kind == Kind::Init) {
            return Err(at(number, "column `kind`: the first row, and no other, is `init`"));
        }
        if rows.len() == MOST_ROWS {
            return Err(at(number, &format!("more than {MOST_ROWS} rows")));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(BadInput::new(format_args!("{name}: no rows after the first line")));
    }
    Ok(rows)
}
