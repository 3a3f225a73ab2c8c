#!/usr/bin/env python3
"""Write the beginning of something new: a file with a test, its page, the line of its table.

``new.py law NAME`` makes a growth law that works: Reno's window, to be changed into the new one.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_LAW = """//! {Type}: TODO the document, and what it says, by section.

use ackclock_units::Bytes;

use super::contract::{{About, Growth, Law, Window}};
use crate::event::{{Ack, Congestion, Proposal, RecoveryEnd, Signal, SlowStartStep}};
use crate::words::{{Described, Word}};

/// The window of {Type}: one segment a round trip, half of it after a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct {Type} {{
    window: Window,
    /// Acknowledged bytes that have not yet bought a segment.
    acked: Bytes,
    /// The window before the last reduction.
    undo: Option<Window>,
}}

impl Described for {Type} {{
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::alone("{name}", (), "TODO one line of help")];
}}

impl Law for {Type} {{
    const ABOUT: About = About {{ source: "TODO the document", ..About::PLAIN }};

    fn make((): ()) -> Self {{
        Self::default()
    }}
}}

impl Growth for {Type} {{
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {{
        if let Some(step) = slow_start {{
            self.window.slow_start(step);
            self.acked += step.left_over;
            return;
        }}
        self.acked += ack.newly_acked;
        if self.acked >= self.window.cwnd {{
            self.acked -= self.window.cwnd;
            self.window.cwnd += ack.mss.bytes();
        }}
    }}

    fn on_congestion(&mut self, congestion: &Congestion) {{
        let half = (congestion.reduce_from / 2).max(congestion.mss.times(2));
        self.acked = Bytes::ZERO;
        if !matches!(congestion.signal, Signal::Timeout {{ consecutive: 2.. }}) {{
            self.undo = Some(self.window);
        }}
        match congestion.signal {{
            Signal::Loss | Signal::Ecn {{ .. }} => {{
                self.window.ssthresh = Some(half);
                self.window.cwnd = half;
            }}
            Signal::Timeout {{ consecutive }} => {{
                if consecutive <= 1 {{
                    self.window.ssthresh = Some(half);
                }}
                self.window.cwnd = congestion.mss.bytes();
            }}
        }}
    }}

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {{
        if let Some(at_most) = end.at_most {{
            self.window.cwnd = self.window.cwnd.min(at_most);
        }}
    }}

    fn on_spurious(&mut self) {{
        if let Some(before) = self.undo.take() {{
            self.window = self.window.undone(before);
        }}
    }}

    fn rebase(&mut self, proposal: &Proposal) {{
        self.window.rebase(proposal);
    }}

    fn cwnd(&self) -> Bytes {{
        self.window.cwnd
    }}

    fn ssthresh(&self) -> Option<Bytes> {{
        self.window.ssthresh
    }}
}}

#[cfg(test)]
mod tests {{
    use super::*;
    use crate::growth::GrowthChoice;
    use crate::growth::tests::Story;

    #[test]
    fn {name}_adds_a_segment_a_window_and_halves_at_a_loss() {{
        // TODO the new law's arithmetic. Half of 20 segments is 10, a window of ACKs adds one, and
        // half of 11 is 5.5.
        let mut story = Story::new(GrowthChoice::{Type}(()), 20);
        story.congestion(Signal::Loss, 20).acks(10);
        assert_eq!(story.law.cwnd(), story.mss.times(11));
        story.congestion(Signal::Loss, 11);
        assert_eq!(story.law.cwnd(), Bytes::new(5500));
    }}
}}
"""

_PAGE = """# {Type}

*Source:* TODO. *Code:* `crates/tcp/src/growth/{name}.rs`. *Word:* `{name}`.

## The window

TODO the rules, each with its section.

## Deviations

None.

## Tests

TODO which arithmetic and which measurements hold the law.
"""


def write_law(root: Path, name: str) -> list[Path]:
    """Write the growth law ``name``; return the files that are new or changed."""
    kind = "".join(part.capitalize() for part in name.split("_"))
    folder = root / "crates" / "tcp" / "src"
    table, law = folder / "growth.rs", folder / "growth" / f"{name}.rs"
    page = root / "docs" / "algorithms" / f"{name}.md"
    taken = [path for path in (law, page) if path.exists()]
    if taken:
        message = f"{taken[0].relative_to(root)} is there already"
        raise SystemExit(message)
    text = table.read_text(encoding="utf-8")
    start = text.index("\nlaws! {\n")
    end = text.index("\n}\n", start)
    table.write_text(f"{text[:end]}\n    {name}::{kind},{text[end:]}", encoding="utf-8")
    law.write_text(_LAW.format(name=name, Type=kind), encoding="utf-8")
    # How lines break depends on the length of the name.
    subprocess.run(["rustfmt", "--edition", "2024", law], check=True)
    page.write_text(_PAGE.format(name=name, Type=kind), encoding="utf-8")
    return [law, table, page]


#: The kinds of things that can be made, by their words.
KINDS: Mapping[str, Callable[[Path, str], list[Path]]] = {"law": write_law}


def main(arguments: list[str] | None = None) -> int:
    """Write what the command line asks for, and say which files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("name")
    parser.add_argument("--root", type=Path, default=ROOT)
    asked = parser.parse_args(arguments)
    if not re.fullmatch(r"[a-z][a-z0-9]*", asked.name):
        parser.error("NAME is a word of small letters and digits, such as `probe`")
    for path in KINDS[asked.kind](asked.root, asked.name):
        print(path.relative_to(asked.root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
