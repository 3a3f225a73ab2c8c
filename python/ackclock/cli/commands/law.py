"""The commands ``ackclock check-law`` and ``ackclock law-trace``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.writing import write_file
from ackclock.cli import printing
from ackclock.cli.options import AsJson, Laws, load_laws
from ackclock.laws.own import load_law
from ackclock.laws.tracing import LawTrace, law_trace

if TYPE_CHECKING:
    from ackclock.laws.checking import LawCheck

__all__ = ["check_law", "compare_law_trace"]

EXIT_FAILED = 1
#: A story takes a millisecond, or some in Python. One that takes longer than this does not end.
_STUCK_S = 10.0
#: The beginning of each line on the standard error that is ours.
_OURS = "ackclock: "


def check_law(
    law: Annotated[
        str,
        typer.Argument(
            metavar="LAW",
            help="A word as in `variant`, or NAME=FILE: a shared library or a file of Python.",
        ),
    ],
    stories: Annotated[
        int, typer.Option(metavar="N", min=1, help="The stories with each recovery.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the stories.")] = 1,
    laws: Laws = None,
    as_json: AsJson = False,
    only: Annotated[int | None, typer.Option("--only", hidden=True)] = None,
    trail: Annotated[Path | None, typer.Option("--trail", hidden=True)] = None,
) -> None:
    """Hold a law of your own against the rules of growth laws.

    It is told random stories of a sender, with losses, marks, timeouts and silence, and runs in
    six short scenarios. A rule that it breaks is told with the shortest story in which it does.
    """
    # A command that runs a file has no need of it.
    from ackclock.laws.checking import judged

    name, equals, file = law.partition("=")
    if trail is not None:
        _in_child(name, file if equals else None, laws, stories, seed, only, trail)
        return
    words = [law, *(f"--law={it}" for it in laws or ())]
    with printing.status(f"checking {name}"), tempfile.TemporaryDirectory() as folder:
        at = Path(folder) / "trail"
        told = _of_child([*words, f"--stories={stories}", f"--seed={seed}"], name, at)
    if "kept" in told:
        # It ends no process, and may run in this one.
        load_laws([*([law] if equals else []), *(laws or ())])
    result = judged(name, told)
    if as_json:
        printing.print_json(result.to_dict())
    else:
        _print(result)
    if result.broken is not None:
        raise typer.Exit(EXIT_FAILED)


def _in_child(
    name: str, file: str | None, laws: list[str] | None, stories: int, seed: int,
    only: int | None, trail: Path,
) -> None:  # fmt: skip
    """Tell the stories, and write the outcome for the parent: a law may print what it likes."""
    try:
        if file is not None:
            load_law(name, file)
        for law in laws or ():
            word, _, source = law.partition("=")
            load_law(word, source)
        answer = _core.check_law(name, stories, seed, only, str(trail))
    except BadInput as error:
        answer = json.dumps({"refused": str(error)})
    write_file(_answer(trail), answer.encode())


def _answer(trail: Path) -> Path:
    """Return the file in which a child leaves its outcome."""
    return trail.with_name("answer")


def _of_child(words: list[str], name: str, trail: Path) -> dict[str, Any]:
    """Return the outcome of a check in another process, which a law in C may end."""
    answer, how = _run(words, trail)
    if answer is not None:
        if "refused" in answer:
            raise BadInput(answer["refused"])
        return answer
    if not trail.exists():
        raise BadInput(f"law `{name}`: the process {how} as the law was loaded")
    story = int.from_bytes(trail.read_bytes()[:8], "little")
    _run([*words, f"--only={story}"], trail)
    event = trail.read_bytes()[8:].decode(errors="replace").strip()
    where = f" in {event}" if event else ""
    return {
        "broken": {
            "rule": "a law returns to its caller",
            "what": f"the process {how}{where}, in story {story} of this seed",
            "sender": name,
            "steps": [],
            "events": [],
        }
    }


def _run(words: list[str], trail: Path) -> tuple[dict[str, Any] | None, str]:
    """Run this command in a process; return its outcome, or how it ended without one."""
    ours = [sys.executable, "-P", "-m", "ackclock.cli", "check-law", *words, f"--trail={trail}"]
    answer = _answer(trail)
    answer.unlink(missing_ok=True)
    with subprocess.Popen(ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            last, since = b"", time.monotonic()
            while True:
                try:
                    _, err = child.communicate(timeout=0.1)
                    break
                except subprocess.TimeoutExpired:
                    now = trail.read_bytes() if trail.exists() else b""
                    if now != last:
                        last, since = now, time.monotonic()
                    if time.monotonic() - since > _STUCK_S:
                        return None, f"did not go on for {_STUCK_S:g} s"
        finally:
            child.kill()
    if child.returncode < 0:
        return None, f"ended by {signal.Signals(-child.returncode).name}"
    if child.returncode == 0 and answer.exists():
        return json.loads(answer.read_text(encoding="utf-8")), ""
    # A refusal of the command has a line; a law that ends its process leaves none of ours.
    *_, last = err.strip().splitlines() or [""]
    if last.startswith(_OURS):
        raise BadInput(last.removeprefix(_OURS))
    return None, f"ended with exit code {child.returncode}"


def _print(result: LawCheck) -> None:
    """Print the outcome for people."""
    name = printing.plain(result.law)
    if result.broken is not None:
        print(f"{name} breaks a rule: {result.broken}")
        print(f"  {printing.plain(result.what)}")
        if result.steps:
            print(
                f"\nThe shortest story found, with {printing.plain(result.sender)} and segments of "
                "1000 bytes:"
            )
            for number, step in enumerate(result.steps, 1):
                print(f"  {number}. {step}")
        if result.events:
            print("\nWhat the law heard last:")
            for event in result.events:
                print(f"  {event}")
        return
    print(
        f"{name} kept the rules in {result.stories} stories ({result.heard} events), and left the "
        "same tables twice."
    )
    print()
    print(
        f"  {'scenario':14}{'sender':12}{'goodput':>14}{'link busy':>11}{'sent again':>12}"
        f"{'queue':>10}"
    )
    for row in result.scenarios:
        print(
            f"  {row['scenario']:14}{row['sender']:12}{row['goodput_bps'] / 1e6:>7.2f} Mbit/s"
            f"{row['utilisation']:>11.1%}{row['retransmitted']:>12.2%}"
            f"{row['queue_delay_mean_s'] * 1e3:>7.1f} ms"
        )


def compare_law_trace(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The trace: CSV, plain or compressed by gzip.")
    ],
    variant: Annotated[
        str, typer.Option(metavar="NAME", help="The sender, as in a scenario's `variant`.")
    ],
    profile: Annotated[str, typer.Option(help="The profile: rfc, linux or ns2.")] = "linux",
    mss: Annotated[
        int, typer.Option(min=1, max=65535, help="Payload bytes of the trace's segments.")
    ] = 1448,
    stamp_offset: Annotated[
        int,
        typer.Option(
            metavar="MS",
            min=0,
            max=2**32 - 1,
            help="The peer's clock of timestamps less this end's, for a trace with timestamps.",
        ),
    ] = 0,
    laws: Laws = None,
    as_json: AsJson = False,
) -> None:
    """Compare a sender's windows with those of a recorded trace, event by event.

    The sender is given the events of the trace; after each of them its window is held against the
    one that the trace's own law had. The exit code is 1 if one differs.
    """
    load_laws(laws)
    found = law_trace(file, variant, profile=profile, mss=mss, stamp_offset=stamp_offset)
    if as_json:
        printing.print_json(found.to_dict())
    else:
        _print_trace(found, variant)
    if found.first_difference is not None:
        raise typer.Exit(EXIT_FAILED)


def _print_trace(found: LawTrace, variant: str) -> None:
    """Print the comparison for people."""
    print(
        f"{printing.plain(variant)}: cwnd equal after {found.equal} of {found.compared} events, "
        f"within one segment after {found.within_one}."
    )
    first = found.first_difference
    if first is not None:
        print(
            f"The first difference is in line {first['line']} ({first['kind']}, "
            f"{first['at_s']:.6f} s): cwnd {first['cwnd']}, in the trace "
            f"{first['cwnd_in_trace']}; ssthresh {_threshold(first['ssthresh'])}, in the trace "
            f"{_threshold(first['ssthresh_in_trace'])}."
        )


def _threshold(segments: int | None) -> str:
    return "none" if segments is None else str(segments)
