"""Scripts and cases that this machine's kernel answers: ``drill --on live`` and ``judge``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ac
from live_support import WHY_NOT, live
from support import Answer
from test_drill import GOOD, read_tap

#: A statement that is false of the kernel's first segment: it has no payload of 999 bytes.
DIFFERENT = GOOD.replace("1:1001(1000)", "1:1000(999)")
#: 10 segments are a first window of both (RFC 6928); the RTO is a matter of profiles.
PROFILED = """\
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  bind(3, ..., ...) = 0
+0  listen(3, 1) = 0
+0  < S 0:0(0) win 65535 <mss 1000>
+0  > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 65535
+0  accept(3, ..., ...) = 4
+0  write(4, ..., 1000) = 1000
+0  > P. 1:1001(1000) ack 1
+.3~+.32 > P. 1:1001(1000) ack 1
"""


def script(folder: Path, text: str) -> Path:
    path = folder / "script.pkt"
    path.write_text(text, encoding="utf-8")
    return path


def test_stacks_have_names(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("drill", script(tmp_path, GOOD), "--on", "life")
    assert answer == Answer(
        2,
        "",
        "ackclock: on: `life` is no stack, expected sim, live, linux, sim,live or sim,linux (did "
        "you mean `live`?)\n",
    )
    answer = ackclock("drill", script(tmp_path, GOOD), "--on", "live,linux")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "`live,linux` has two kernels, expected one" in answer.err
    for words in (("drill", script(tmp_path, GOOD)), ("judge",)):
        answer = ackclock(*words, "--linux", "7.2")
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert "linux: a kernel is named, expected" in answer.err
    with pytest.raises(ac.BadInput, match="random"):
        ac.judge(random=-1)


@pytest.mark.skipif(WHY_NOT is None, reason="scripts can be given to the kernel here")
def test_a_machine_that_cannot_says_so_in_one_line(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    for arguments in (("drill", script(tmp_path, GOOD), "--on", "live"), ("judge",)):
        answer = ackclock(*arguments)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.count("\n") == 1


@live
def test_the_kernel_passes_a_script_and_fails_another(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    path = script(tmp_path, GOOD)
    tap = read_tap(ackclock("drill", path, "--on", "live").out)
    assert [(point.ok, point.name) for point in tap.points] == [(True, f"{path} on live")]
    result = ac.drill(script(tmp_path, DIFFERENT), on="live")
    (outcome,) = result.scripts
    assert outcome.on == "live"
    assert outcome.failure is not None
    assert outcome.failure.message == "this packet differs in payload"


@live
def test_both_stacks_are_compared(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    # RFC 6298 section 2.4: at least a second, Linux: 200 ms and the round trip of 100 ms.
    path = script(tmp_path, PROFILED)
    document = json.loads(ackclock("drill", path, "--on", "live,sim", "--json").out)
    assert [row["on"] for row in document["scripts"]] == ["sim", "live"]
    assert [row["passed"] for row in document["scripts"]] == [False, True]
    (difference,) = document["differences"]
    assert difference["line"] == 10
    alike = ac.drill(path, on="sim,live", profile="linux")
    assert (alike.passed, alike.differences) == (2, ())


@live
def test_the_machine_is_left_as_it_was(tmp_path: Path) -> None:
    setting = Path("/proc/sys/net/ipv4/tcp_sack")
    before = (setting.read_text(), sorted(Path("/sys/class/net").iterdir()))
    text = "`sysctl -q net.ipv4.tcp_sack=0`\n" + GOOD.replace("<...>", "<mss 1460>")
    text = text.replace("<mss 1000>", "<mss 1000,sackOK>")
    assert ac.drill(script(tmp_path, text), on="live").passed == 1
    assert (setting.read_text(), sorted(Path("/sys/class/net").iterdir())) == before


@live
def test_states_and_segments_are_answered_as_the_kernel_answers_them(tmp_path: Path) -> None:
    result = ac.judge(random=0, out=tmp_path / "differences")
    assert result.differences == ()
    assert result.cases > 600
    assert result.alike + sum(result.meant.values()) + result.unsteady == result.cases
    assert not (tmp_path / "differences").exists()


@live
def test_random_cases_are_those_of_their_seed() -> None:
    # A case takes two seconds.
    one, other = (ac.judge(grid=False, random=3, seed=seed) for seed in (1, 1))
    assert one.cases == other.cases == 3
