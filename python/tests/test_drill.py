"""The command ``ackclock drill``, and the same from Python."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import ackclock as ac
from ackclock.live.exercises import exercises
from support import Answer, killed_in_the_end

#: A handshake and a segment of 1000 bytes, which goes out at 0.1 s.
GOOD = """\
// One segment.
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  bind(3, ..., ...) = 0
+0  listen(3, 1) = 0
+0  < S 0:0(0) win 65535 <mss 1000>
+0  > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 65535
+0  accept(3, ..., ...) = 4
+0  write(4, ..., 1000) = 1000
+0  > P. 1:1001(1000) ack 1
"""
#: On line 10 the acknowledgment is 1.
DIFFERENT = GOOD.replace("1:1001(1000) ack 1", "1:1001(1000) ack 2")
#: `1:1001` are 1000 bytes; the numbers begin at column 8.
MISREAD = GOOD.replace("1:1001(1000)", "1:1001(999)")
#: Two segments are written and only one is expected.
LEFT_OVER = GOOD.replace("1000) = 1000", "2000) = 2000").replace("> P.", "> .")


@dataclass
class Point:
    """A test point of TAP."""

    ok: bool
    number: int
    name: str
    diagnostics: dict[str, str] = field(default_factory=dict)


@dataclass
class Tap:
    """A document of TAP, version 13."""

    points: list[Point]
    comments: list[str]


def read_tap(text: str) -> Tap:
    """Read the part of TAP 13 that is promised, and refuse everything else."""
    lines: Iterator[str] = iter(text.splitlines())
    assert text.endswith("\n")
    assert next(lines) == "TAP version 13"
    plan = re.fullmatch(r"1\.\.(\d+)", next(lines))
    assert plan
    tap = Tap([], [])
    for line in lines:
        if line.startswith("#"):
            tap.comments.append(line.removeprefix("# "))
        elif point := re.fullmatch(r"(not )?ok (\d+) - ([^#]*)", line):
            tap.points.append(Point(not point[1], int(point[2]), point[3]))
        else:
            # A block of YAML belongs to the point right before it.
            assert line == "  ---"
            for entry in iter(lines.__next__, "  ..."):
                member = re.fullmatch(r'  (\w+): +(".*")', entry)
                assert member, entry
                # What these escape, JSON and YAML escape alike.
                tap.points[-1].diagnostics[member[1]] = json.loads(member[2])
    assert [point.number for point in tap.points] == list(range(1, int(plan[1]) + 1))
    return tap


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scripts: two that pass, one that differs and one that cannot be read."""
    for name, text in {
        "first/different.pkt": DIFFERENT,
        "first/good.pkt": GOOD,
        "second/good.pkt": GOOD,
        "second/deep/misread.pkt": MISREAD,
        "second/readme.md": "no script",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def script(folder: Path, text: str) -> Path:
    path = folder / "script.pkt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_script_that_passes(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    path = script(tmp_path, GOOD)
    answer = ackclock("drill", path)
    assert answer == Answer(0, f"TAP version 13\n1..1\nok 1 - {path}\n", "")


@pytest.mark.usefixtures("folder")
def test_packets_that_differ_stand_one_above_the_other(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("drill", "first/different.pkt")
    assert answer == Answer(
        1,
        "TAP version 13\n"
        "1..1\n"
        "not ok 1 - first/different.pkt\n"
        "  ---\n"
        '  at: "first/different.pkt:10:1"\n'
        '  message: "this packet differs in ack"\n'
        '  expected: "0.100000 > P. 1:1001(1000) ack 2"\n'
        '  actual:   "0.100000 > P. 1:1001(1000) ack 1 win 65535"\n'
        "  ...\n",
        "",
    )


@pytest.mark.usefixtures("folder")
def test_a_script_that_cannot_be_read_has_failed(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("drill", "second/deep/misread.pkt")
    assert answer.code == 1
    (point,) = read_tap(answer.out).points
    assert not point.ok
    assert point.diagnostics == {
        "at": "second/deep/misread.pkt:10:10",
        "message": "1:1001 are 1000 bytes, not 999",
    }


@pytest.mark.usefixtures("folder")
def test_folders(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("drill", "second", "first")
    assert answer.code == 1
    tap = read_tap(answer.out)
    assert [(point.ok, point.name) for point in tap.points] == [
        (False, "second/deep/misread.pkt"),
        (True, "second/good.pkt"),
        (False, "first/different.pkt"),
        (True, "first/good.pkt"),
    ]
    assert tap.comments == ["2/4 passed", "  1/2  first", "  1/1  second", "  0/1  second/deep"]
    # One folder needs no table.
    assert read_tap(ackclock("drill", "first").out).comments == []


@pytest.mark.usefixtures("folder")
def test_json(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("drill", "first", "--json", "--set", "tcp_wmem=1 2 3")
    assert answer.code == 1
    assert answer.err == ""
    packets = [
        "0.000000 < S 0:0(0) win 65535 <mss 1000>",
        "0.000000 > S. 0:0(0) ack 1 win 65535 <mss 1460>",
        "0.100000 < . 1:1(0) ack 1 win 65535",
        "0.100000 > P. 1:1001(1000) ack 1 win 65535",
    ]
    assert json.loads(answer.out) == {
        "passed": 1,
        "failed": 1,
        "notes": ["`tcp_wmem=1 2 3` means nothing: memory is not limited"],
        "again": 0,
        "differences": [],
        "scripts": [
            {
                "file": "first/different.pkt",
                "on": "sim",
                "passed": False,
                "failure": {
                    "line": 10,
                    "column": 1,
                    "message": "this packet differs in ack",
                    "expected": "0.100000 > P. 1:1001(1000) ack 2",
                    "actual": "0.100000 > P. 1:1001(1000) ack 1 win 65535",
                },
                "report": None,
                "packets": packets,
            },
            {
                "file": "first/good.pkt",
                "on": "sim",
                "passed": True,
                "failure": None,
                # In: SYN and ACK. Out: SYN-ACK and data.
                "report": {
                    "packets_in": 2,
                    "packets_out": 2,
                    "assertions": 0,
                    "took_s": 0.1,
                    "notes": [],
                },
                "packets": packets,
            },
        ],
    }


def test_profile(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    # After one round trip of 100 ms the timeout is 1 s, the least of RFC 6298 §2.4; in Linux it is
    # srtt + max(4 rttvar, 200 ms) = 100 ms + 200 ms.
    path = script(tmp_path, GOOD + "+.3 > P. 1:1001(1000) ack 1\n")
    assert ackclock("drill", path, "--profile", "linux").code == 0
    assert ackclock("drill", path, "--profile", "rfc").code == 1
    assert ackclock("drill", path).code == 1
    # A script may say itself whose habits it tests.
    assert ackclock("drill", script(tmp_path, f"--profile=linux\n{path.read_text()}")).code == 0


def test_settings_come_after_the_scripts_own(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    # An initial window of one segment leaves the second one for later.
    path = script(tmp_path, "--initial_window=2\n" + LEFT_OVER)
    assert ackclock("drill", path, "--strict-end").code == 1
    assert ackclock("drill", path, "--strict-end", "--set", "initial_window=1").code == 0


def test_what_is_compared_more_strictly(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    assert ackclock("drill", script(tmp_path, LEFT_OVER)).code == 0
    answer = ackclock("drill", script(tmp_path, LEFT_OVER), "--strict-end")
    assert answer.code == 1
    (point,) = read_tap(answer.out).points
    assert point.diagnostics["expected"] == "nothing more"
    # The SYN-ACK carries no P whoever made it.
    pushed = GOOD.replace("> S.", "> SP.")
    assert ackclock("drill", script(tmp_path, pushed)).code == 0
    answer = ackclock("drill", script(tmp_path, pushed), "--strict-push")
    assert answer.code == 1
    (point,) = read_tap(answer.out).points
    assert point.diagnostics["message"] == "this packet differs in flags"


def test_notes(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    path = script(tmp_path, f"`sysctl -q net.ipv4.tcp_wmem=1`\n{GOOD}")
    arguments = ("drill", path, "--set", "tcp_moderate_rcvbuf=0")
    assert read_tap(ackclock(*arguments).out).comments == []
    of_script, of_command = read_tap(ackclock(*arguments, "--notes").out).comments
    assert of_script == f"{path}:1:2: `tcp_wmem=1` means nothing: memory is not limited"
    assert of_command.startswith("`tcp_moderate_rcvbuf=0` is passed over: ")


def test_names_do_not_break_the_protocol(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    path = tmp_path / 'a #\n1..9 "\x1b[2J'
    path.write_text(DIFFERENT, encoding="utf-8")
    answer = ackclock("drill", path)
    assert answer.code == 1
    assert "\x1b" not in answer.out
    (point,) = read_tap(answer.out).points
    assert point.name == rf'{tmp_path}/a _\u000a1..9 "\u001b[2J'
    assert point.diagnostics["at"] == f"{path}:10:1"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["PATH"]),
        (["none.pkt"], ["none.pkt: no such file", "*.pkt"]),
        (["empty"], ["empty: is a folder without scripts"]),
        (["latin.pkt"], ["latin.pkt:2: byte 5 is not UTF-8"]),
        (["."], ["latin.pkt:2: byte 5 is not UTF-8"]),
        (["good.pkt", "--profile", "linus"], ["--profile", "linus", "linux"]),
        (["good.pkt", "--set", "tcp_sak=0"], ["`tcp_sak` (did you mean `tcp_sack`?)"]),
        (
            ["good.pkt", "--set", "zzz=0"],
            ["unknown setting `zzz`, expected one such as `tcp_sack`"],
        ),
        (["good.pkt", "--set", "tcp_sack=2"], ["`tcp_sack` is a number from 0 to 1"]),
        (["good.pkt", "--set", "variant=newrino"], ["`newreno`"]),
        (["good.pkt", "--set", "tcp_sack"], ["--set", "NAME=VALUE"]),
        (["good.pkt", "--set", "=1"], ["--set", "NAME=VALUE"]),
        (["good.pkt", "--strict-psh"], ["--strict-push"]),
    ],
)
def test_arguments_that_cannot_be_used(
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ackclock: Callable[..., Answer],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "good.pkt").write_text(GOOD, encoding="utf-8")
    # `é` in Latin-1, behind a line end and the three bytes `// `.
    (tmp_path / "latin.pkt").write_bytes(b"\n// \xe9\n")
    answer = ackclock("drill", *arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1, answer.err
    assert answer.err.startswith("ackclock: ")
    for word in words:
        assert word in answer.err


@pytest.mark.usefixtures("folder")
def test_from_python() -> None:
    result = ac.drill(["first", Path("second/good.pkt")])
    assert repr(result) == "Drill(passed=2, failed=1)"
    assert [script.passed for script in result.scripts] == [False, True, True]
    failure = result.scripts[0].failure
    assert failure is not None
    assert (failure.line, failure.column) == (10, 1)
    assert failure.actual == "0.100000 > P. 1:1001(1000) ack 1 win 65535"
    report = result.scripts[1].report
    assert report is not None
    assert (report.packets_in, report.packets_out, report.notes) == (2, 2, ())
    assert len(read_tap(result.tap()).points) == 3


@pytest.mark.usefixtures("folder")
def test_results_do_not_depend_on_the_number_of_threads() -> None:
    one, two, seven = (ac.drill(["first", "second"] * 20, threads=n) for n in (1, 2, 7))
    assert one.scripts == two.scripts == seven.scripts
    assert one.passed == 40
    with pytest.raises(ac.BadInput, match="threads"):
        ac.drill("first", threads=0)
    with pytest.raises(ac.BadInput, match="no path"):
        ac.drill([])


def test_settings_from_python(tmp_path: Path) -> None:
    # A SYN offers SACK, and the SYN-ACK accepts it if this end is allowed to (RFC 2018 §2).
    text = GOOD.replace("<mss 1000>", "<mss 1000,sackOK>").replace("<...>", "<mss 1460>")
    path = script(tmp_path, text)
    for off in (0, "0", False):
        assert ac.drill(path, settings={"tcp_sack": off, "variant": "newreno+sack"}).passed == 1
    for on in (1, "1", True):
        assert ac.drill(path, settings={"tcp_sack": on, "variant": "newreno+sack"}).failed == 1
    with pytest.raises(ac.BadInput, match="did you mean `tcp_sack`"):
        ac.drill(path, settings={"tcp_sak": 1})


def opened_by_a_reader(pipe: Path) -> int:
    """Open the writing end of a pipe as soon as somebody opens the other."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with suppress(OSError):
            writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            # Time to begin reading.
            time.sleep(0.3)
            return writer
        time.sleep(0.05)
    raise TimeoutError(pipe)


def test_an_interrupt_leaves_one_line(tmp_path: Path) -> None:
    # Reading a pipe that nobody writes to takes for ever.
    pipe = tmp_path / "pipe.pkt"
    os.mkfifo(pipe)
    command = Path(sys.executable).parent / "ackclock"
    with (
        subprocess.Popen(
            [command, "drill", pipe], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as child,
        killed_in_the_end(child),
    ):
        writer = opened_by_a_reader(pipe)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        os.close(writer)
    assert child.returncode == 130
    assert out == ""
    assert err.splitlines() == ["ackclock: interrupted"]


def test_packets_are_printed_and_captured(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    path = script(tmp_path, DIFFERENT)
    answer = ackclock("drill", path, "--verbose", "--pcap", tmp_path / "pcap")
    assert answer.code == 1
    comments = [line for line in answer.out.splitlines() if line.startswith("#")]
    assert comments == [
        "#   0.000000 < S 0:0(0) win 65535 <mss 1000>",
        "#   0.000000 > S. 0:0(0) ack 1 win 65535 <mss 1460>",
        "#   0.100000 < . 1:1(0) ack 1 win 65535",
        "#   0.100000 > P. 1:1001(1000) ack 1 win 65535",
        f"# capture: {tmp_path / 'pcap' / 'script.pcapng'}",
    ]
    read_tap(answer.out)
    data = (tmp_path / "pcap" / "script.pcapng").read_bytes()
    # The addresses of both ends, packetdrill's.
    assert bytes((192, 168, 0, 1, 192, 0, 2, 1)) in data
    assert bytes((192, 0, 2, 1, 192, 168, 0, 1)) in data
    result = ac.drill(path, pcap=tmp_path / "again")
    assert result.captures == [tmp_path / "again" / "script.pcapng"]
    assert result.captures[0].read_bytes() == data
    assert result.scripts[0].packets[-1] == "0.100000 > P. 1:1001(1000) ack 1 win 65535"


def test_a_capture_has_also_what_was_not_expected(tmp_path: Path) -> None:
    sizes = []
    for name, text in (("good", GOOD), ("left", LEFT_OVER)):
        path = tmp_path / f"{name}.pkt"
        path.write_text(text, encoding="utf-8")
        (capture,) = ac.drill(path, pcap=tmp_path / name).captures
        sizes.append(capture.stat().st_size)
    # One more segment: a block of 32 bytes around its headers of 40 (pcapng section 4.3).
    assert sizes[1] - sizes[0] >= 72


def test_exercises_pass_with_their_solutions_and_fail_without(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    rows = json.loads(ackclock("drill", "--list", "--json").out)
    # Each exercise names its profile in a line `--profile=`.
    assert rows[0] == {
        "name": "handshake",
        "profile": "rfc",
        "title": "The three-way handshake (RFC 9293 section 3.5)",
    }
    listed = ackclock("drill", "--list")
    names = [line.split()[0] for line in listed.out.splitlines()]
    assert names == list(exercises())
    assert len(names) >= 10
    answer = ackclock("drill", *names)
    assert answer.code == 0, answer.out
    assert len(read_tap(answer.out).points) == len(names)
    for name in names:
        text = ackclock("drill", name, "--print").out
        assert text == exercises()[name].text
        # A source for each, and an explanation of the solution.
        assert re.match(r"// .* \(RFC \d+ section [\d.]+\)\n", text)
        assert "\n//! " in text
        file = tmp_path / f"{name}.pkt"
        answer = ackclock("drill", name, "--task", file)
        assert answer.code == 0, answer.err
        task = file.read_text(encoding="utf-8")
        given, _, solution = task.partition("// Your turn.\n")
        assert text.startswith(given)
        assert "//!" not in task
        assert "// ?" in solution
        assert " > " not in solution
        # Nothing is filled in yet: what goes out is missed.
        assert ackclock("drill", file).code == 1, name
    assert ackclock("drill", names[0], "--task", file).code == 2
    answer = ackclock("drill", "--print", "fast-retransmitt")
    assert "(did you mean `fast-retransmit`?)" in answer.err
    assert ackclock("drill").code == 2


def test_a_file_comes_before_an_exercise_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ackclock: Callable[..., Answer]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sack").write_text(DIFFERENT, encoding="utf-8")
    assert ackclock("drill", "sack").code == 1
    assert ackclock("drill", "nagle").code == 0


def test_a_script_asks_for_strict_ends(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    assert ackclock("drill", script(tmp_path, LEFT_OVER)).code == 0
    answer = ackclock("drill", script(tmp_path, "--strict_end=1\n" + LEFT_OVER))
    assert answer.code == 1
    assert "left over" in answer.out
