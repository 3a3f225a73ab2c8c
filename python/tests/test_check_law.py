"""`ackclock check-law`: laws in C with a mistake are named within seconds."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ac
from support import ROOT, Answer
from test_hostile_input import LAW

SOURCE = ROOT / "python/ackclock/examples/laws/reno.c"

#: A change of the example, and the rule that it breaks.
MISTAKES = {
    "cwnd to zero": (
        "state->now.cwnd = event->mss_bytes;",
        "state->now.cwnd = 0;",
        "a window and a rate that a sender can have",
        "cwnd is 0 bytes; expected at least a segment, which is 1000 bytes",
    ),
    "NaN pacing": (
        ".ssthresh_bytes = ssthresh,",
        ".ssthresh_bytes = ssthresh, .pacing_rate_bps = not_a_number,",
        "a window and a rate that a sender can have",
        "the pacing rate is NaN bit/s; expected a number from 0 to 1e18",
    ),
    "growth on duplicate ACKs": (
        "    state->acked += ack->newly_acked_bytes;",
        "    state->now.cwnd += ack->mss_bytes;",
        "duplicate ACKs let no window grow",
        "10 ACKs that acknowledged nothing, and cwnd went from",
    ),
    "a pointer to nowhere": (
        "    state->acked += ack->newly_acked_bytes;",
        "    *(volatile int *)8 = 1;",
        "a law returns to its caller",
        "the process ended by SIGSEGV in on_ack, in story 0 of this seed",
    ),
}


def compiled(folder: Path, old: str, new: str) -> Path:
    """Return the example with a change, compiled."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler on the PATH")
    text = SOURCE.read_text()
    assert old in text
    text = text.replace(old, new).replace(
        "static const ackclock_law",
        'double not_a_number(const void *s) { (void)s; return __builtin_nan(""); }\n'
        "static const ackclock_law",
    )
    source, out = folder / "mine.c", folder / "libmine.so"
    source.write_text(text)
    words = ["cc", "-O2", "-shared", "-fPIC", "-I", ac.get_include(), "-o", str(out), str(source)]
    subprocess.run(words, check=True)
    return out


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_c_is_named(
    name: str, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    old, new, rule, said = MISTAKES[name]
    library = compiled(tmp_path, old, new)
    answer = ackclock("check-law", f"mine={library}")
    assert answer.code == 1
    assert answer.out.startswith(f"mine breaks a rule: {rule}\n")
    assert said in answer.out


def test_what_breaks_a_rule_is_told_as_json(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    old, new, rule, _ = MISTAKES["cwnd to zero"]
    told = ackclock("check-law", f"mine={compiled(tmp_path, old, new)}", "--json")
    assert told.code == 1
    assert json.loads(told.out)["broken"] == rule


def test_a_law_that_does_not_return_is_named(
    tmp_path: Path, ackclock: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = compiled(
        tmp_path,
        "    state->acked += ack->newly_acked_bytes;",
        "    extern int pause(void); pause();",
    )
    # It has to start within this, too; it then uses no processor.
    monkeypatch.setattr("ackclock.cli.commands.law._STUCK_S", 4.0)
    answer = ackclock("check-law", f"mine={library}")
    assert answer.code == 1
    assert "the process did not go on for 4 s" in answer.out
    assert "in on_ack" in answer.out


def test_a_law_that_keeps_the_rules_is_shown_beside_others(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    library = compiled(tmp_path, "calloc", "calloc")
    answer = ackclock("check-law", f"mine={library}", "--stories", 20)
    assert (answer.code, answer.err) == (0, f"ackclock: law `mine` loaded from {library}\n")
    assert answer.out.startswith("mine kept the rules in 141 stories")
    assert answer.out.count("mine ") >= 6
    answer = ackclock("check-law", "cubic", "--stories", 5, "--json")
    told = json.loads(answer.out)
    assert (told["broken"], len(told["scenarios"])) == (None, 12)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("import os; os._exit(0)", "the process ended with exit code 0 in on_ack, in story 0"),
        ("import os; os._exit(7)", "the process ended with exit code 7 in on_ack, in story 0"),
        ("import os; os.write(1, b'no end of line')", "mine kept the rules"),
    ],
)
def test_a_law_in_python_that_exits_or_prints_is_checked(
    statement: str, said: str, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    law = tmp_path / "law.py"
    law.write_text(LAW.format(statement), encoding="utf-8")
    answer = ackclock("check-law", f"mine={law}", "--stories", 2)
    assert said in answer.out


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ("rack", "`rack` is no growth law; expected a growth law, such as `reno`"),
        ("cubik", "`cubik` is no growth law; did you mean `cubic`?"),
        ("mine=none.so", "law `mine`: none.so: cannot be loaded: "),
        ("mine=none.py", "law `mine`: none.py: there is no such file"),
    ],
)
def test_a_word_that_is_no_law_is_told(
    law: str, said: str, ackclock: Callable[..., Answer]
) -> None:
    answer = ackclock("check-law", law)
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_a_law_in_python_is_checked() -> None:
    class Jumps(ac.Growth):
        def on_ack(self, ack: object) -> None:
            del ack
            self.cwnd_bytes *= 2

        def on_congestion(self, congestion: object) -> None:
            del congestion
            self.cwnd_bytes = 2 * self.mss_bytes

    ac.register_law("jumps", Jumps)
    found = ac.check_law("jumps")
    # The first story doubles ten segments of a thousand bytes.
    assert found.broken == "an ACK lets the window grow by no more than what it delivers"
    assert found.what == "an ACK delivered 1000 bytes, and cwnd went from 10000 to 20000 bytes"
    assert found.events
