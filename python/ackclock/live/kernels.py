"""Two kernels in virtual time, held against each other: settings, laws, scripts, cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.threads import side_by_side
from ackclock.linux import calling, drilling
from ackclock.linux.kept import Kept
from ackclock.linux.running import run_linux
from ackclock.live import judging
from ackclock.live.exercises import exercises
from ackclock.scenario.flows import Flow
from ackclock.scenario.links import Path
from ackclock.scenario.scenario import Scenario

__all__ = ["KernelDiff", "KernelDifference", "Kind", "diff"]

#: The parts of a comparison, in their order.
Kind = Literal["setting", "law", "script", "case"]
#: Told what goes on.
Progress = Callable[[str], None]

#: The laws of Linux by the names that scenarios have for them.
LAWS = (
    *("reno", "cubic", "bbr1", "dctcp", "bic", "cdg", "highspeed", "htcp", "hybla", "illinois"),
    *("lp", "nv", "scalable", "vegas", "veno", "westwood", "yeah"),
)
_QUICK_LAWS = 4
#: The laws' path is tried so long, in seconds: the first time that shows a difference is told.
_LASTS_S = (1, 2, 5, 10)
#: Goodput that differs by this share or less is alike if as many segments were sent again.
_ALIKE = 0.001
_RANDOM, _QUICK_RANDOM = 2000, 200

_SERVER = """\
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  bind(3, ..., ...) = 0
+0  listen(3, 1) = 0
"""
_CLIENT = """\
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0  connect(3, ..., ...) = -1 EINPROGRESS
*   > S 0:0(0) <...>
"""
#: Scripts that show what a setting does: the SYN of a connection, and answers to others'.
_PROBES = {
    "a SYN": _CLIENT,
    "a SYN-ACK": f"""{_SERVER}+0  < S 0:0(0) win 65535 <mss 1460,sackOK,TS val 1 ecr 0,wscale 7>
*   > S. 0:0(0) ack 1 <...>
""",
    "a SYN-ACK, asked for ECN": f"""{_SERVER}+0  < SEW 0:0(0) win 65535 <mss 1460,sackOK>
*   > SE. 0:0(0) ack 1 <...>
""",
    "a SYN-ACK, asked for accurate ECN": f"""{_SERVER}+0  < SEWA 0:0(0) win 65535 <mss 1460,sackOK>
*   > SW. 0:0(0) ack 1 <...>
""",
    "a first flight": f"""{_SERVER}+0  < S 0:0(0) win 65535 <mss 1000,sackOK>
*   > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 65535
+0  accept(3, ..., ...) = 4
+0  write(4, ..., 20000) = 20000
*   > . 1:10001(10000) ack 1
*   > . 9001:10001(1000) ack 1
""",
}


@dataclass(frozen=True)
class KernelDifference:
    """A behaviour in which two kernels differ.

    Attributes
    ----------
    kind
        The part of the comparison that found it.
    what
        The name of the setting, law, script or case, and the fields.
    one, other
        The behaviour of the first kernel, and that of the second.
    count
        The number of cases that have it; 1 of the other kinds.
    name
        The name of the file that shows it: a packetdrill script that the second kernel passes, or
        a scenario; empty if nothing that was tried does.
    text
        The text of that file.
    """

    kind: Kind
    what: str
    one: str
    other: str
    count: int = 1
    name: str = ""
    text: str = ""


@dataclass(frozen=True)
class KernelDiff:
    """The differences of two kernels.

    Attributes
    ----------
    one, other
        The kernels: version, ticks, mode, and hashes.
    tried
        The number of settings, laws, scripts and cases that were tried.
    differences
        The differences, in the order of the kinds.
    """

    one: dict[str, Any]
    other: dict[str, Any]
    tried: dict[Kind, int]
    differences: tuple[KernelDifference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ackclock linux diff --json`` prints."""
        return asdict(self)

    def page(self) -> str:
        """Return the page, in Markdown."""
        names = [_named(self.one), _named(self.other)]
        lines = [f"# {names[0]} and {names[1]}", ""]
        tried = ", ".join(f"{count} {kind}s" for kind, count in self.tried.items())
        lines += [f"Tried: {tried}. {len(self.differences)} behaviours differ.", ""]
        for kind, title in _TITLES.items():
            found = [each for each in self.differences if each.kind == kind]
            if not found:
                continue
            lines += [f"## {title}", "", f"| what | {names[0]} | {names[1]} | shown by |"]
            lines += ["| --- | --- | --- | --- |"]
            for each in found:
                count = f" ({each.count} cases)" if each.count > 1 else ""
                shown = f"[{each.name}]({each.name})" if each.name else "nothing that was tried"
                cells = (f"{each.what}{count}", f"`{each.one}`", f"`{each.other}`", shown)
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
            lines.append("")
        lines += [
            "Scripts are run by `ackclock drill FILE --on linux --linux KERNEL`, scenarios by"
        ]
        lines += ["`ackclock run FILE --on linux --linux KERNEL`.", ""]
        return "\n".join(lines)

    def files(self) -> dict[str, str]:
        """Return the texts of the files that show the differences, by their names."""
        return {each.name: each.text for each in self.differences if each.name}


_TITLES: dict[Kind, str] = {
    "setting": "Defaults of settings",
    "law": "Laws on one path",
    "script": "Scripts",
    "case": "States, segments and random cases",
}


def diff(
    one: str,
    other: str,
    *,
    quick: bool = False,
    threads: int | None = None,
    progress: Progress = lambda _: None,
) -> KernelDiff:
    """Return the behaviours in which two kernels differ, each with what shows it.

    Parameters
    ----------
    one, other
        The kernels: a key, a version such as ``"7.2"``, or ``"7.2, hz 1000"``.
    quick
        True to try few laws and few random cases.
    threads
        Guests at once; default: one a core.
    progress
        Told what goes on.

    Raises
    ------
    BadInput
        A kernel that is none, or twice the same.
    UnfinishedError
        A guest died or hung.
    """
    kernels = calling.kernel_of(one), calling.kernel_of(other)
    if kernels[0].manifest.key == kernels[1].manifest.key:
        raise BadInput(f"both are {kernels[0].manifest.key}, expected two kernels")
    progress("settings")
    settings = list(side_by_side([partial(_settings, kernel) for kernel in kernels], threads))
    differences = list(_of_settings(kernels, settings, threads))
    laws = LAWS[:_QUICK_LAWS] if quick else LAWS
    for law in laws:
        progress(f"the law {law}")
        differences += _of_law(kernels, law, threads)
    progress("scripts")
    scripts = [(f"{name}.pkt", each.text) for name, each in exercises().items()]
    scripts += [(f"{name}.pkt", text) for name, text in _PROBES.items()]
    differences += _of_scripts(kernels, scripts, threads)
    progress("cases")
    read = _cases(kernels, _QUICK_RANDOM if quick else _RANDOM, threads)
    differences += [
        KernelDifference(
            kind="case",
            what=f"{row['case']}: {row['kind']}",
            one=row["sim"],
            other=row["live"],
            count=row["count"],
            name=name,
            text=row["script"],
        )
        for name, row in zip(
            judging.script_names(read["differences"]), read["differences"], strict=True
        )
    ]
    tried: dict[Kind, int] = {
        "setting": len(set(settings[0]) | set(settings[1])),
        "law": len(laws),
        "script": len(scripts),
        "case": read["cases"],
    }
    about = [kernel.about() for kernel in kernels]
    return KernelDiff(about[0], about[1], tried, tuple(differences))


def _named(about: Mapping[str, Any]) -> str:
    return f"Linux {about['key']}"


def _settings(kernel: Kept, progress: calling.Progress) -> dict[str, list[str]]:
    """Return the settings of a kernel: the default of each, and the digits that it takes."""
    with calling.called(kernel, calling.Job("settings", {}), progress) as left:
        return left.told


def _of_settings(
    kernels: tuple[Kept, Kept], settings: Sequence[Mapping[str, list[str]]], threads: int | None
) -> list[KernelDifference]:
    found: list[KernelDifference] = []

    def differs(
        what: str, told: Sequence[str], name: str, asked: Sequence[tuple[Kept, str]]
    ) -> None:
        shown = _shown(name, asked, told, threads)
        found.append(KernelDifference("setting", what, told[0], told[1], 1, *shown))

    for name in sorted(set(settings[0]) | set(settings[1])):
        one, other = (each.get(name) for each in settings)
        if one is None or other is None:
            value = (one or other or [""])[0]
            told = [_NONE if each is None else each[0] for each in (one, other)]
            differs(name, told, name, [(kernel, value) for kernel in kernels])
            continue
        if one[0] != other[0]:
            differs(name, (one[0], other[0]), name, [(kernels[1], one[0]), (kernels[1], other[0])])
        new = sorted(set(one[1:]) ^ set(other[1:]))
        if new:
            told = [f"takes {', '.join(each[1:])}" for each in (one, other)]
            asked = [(kernel, new[0]) for kernel in kernels]
            differs(f"{name}, its values", told, f"{name}-{new[0]}", asked)
    return found


_NONE = "there is none"


def _shown(
    name: str, asked: Sequence[tuple[Kept, str]], told: Sequence[str], threads: int | None
) -> tuple[str, str]:
    """Return name and text of the first probe that differs between two kernels and values."""
    setting = name.partition("-")[0]

    def under(value: str) -> list[drilling.Script]:
        line = f'`sysctl -q net.ipv4.{setting}="{value}"`\n'
        return [(f"{probe}.pkt", line + text) for probe, text in _PROBES.items()]

    sides = [_drilled(kernel, under(value), threads) for kernel, value in asked]
    for row in json.loads(sides[0].beside(sides[1])):
        text = dict(under(asked[1][1]))[row["file"]]
        return f"{name}.pkt", _commented([f"{setting}: {row['what']}.", *_remarks(told, row)], text)
    return "", ""


def _remarks(names: Sequence[str], row: Mapping[str, str]) -> list[str]:
    return [f"{name}: {row[side]}" for name, side in zip(names, ("sim", "live"), strict=True)]


def _commented(remarks: Sequence[str], text: str) -> str:
    return "".join(f"// {remark}\n" for remark in remarks) + text


def _drilled(kernel: Kept, scripts: Sequence[drilling.Script], threads: int | None) -> _core.Drill:
    how = {
        "profile": "linux",
        "settings": [],
        "compare_push": False,
        "strict_end": False,
        "on": "linux",
    }
    return drilling.drill(kernel, scripts, how, threads=threads)


def _of_scripts(
    kernels: tuple[Kept, Kept], scripts: Sequence[drilling.Script], threads: int | None
) -> list[KernelDifference]:
    sides = [_drilled(kernel, scripts, threads) for kernel in kernels]
    names = [kernel.manifest.key for kernel in kernels]
    return [
        KernelDifference(
            kind="script",
            what=f"{row['file']}:{row['line']}: {row['what']}",
            one=row["sim"],
            other=row["live"],
            name=row["file"].replace(" ", "-").replace(",", ""),
            text=_commented(_remarks(names, row), dict(scripts)[row["file"]]),
        )
        for row in json.loads(sides[0].beside(sides[1]))
    ]


def _of_law(kernels: tuple[Kept, Kept], law: str, threads: int | None) -> list[KernelDifference]:
    """Return the difference of a law, by the shortest run of those tried that shows one."""
    for seconds in _LASTS_S:
        path = Path("10 Mbit/s", "40 ms", buffer="1 BDP")
        flow = Flow(law, name="a", profile="linux")
        scenario = Scenario(path, [flow], duration=f"{seconds} s")

        def run(
            kernel: Kept, progress: calling.Progress, tried: Scenario = scenario
        ) -> dict[str, Any] | str:
            try:
                found = run_linux(tried, linux=kernel.manifest.key, progress=progress)
            except BadInput as refused:
                return str(refused)
            return found.rows("flows")[0]

        sides = list(side_by_side([partial(run, kernel) for kernel in kernels], threads))
        if not _differ(sides[0], sides[1]):
            continue
        text = json.dumps(scenario.to_dict(), indent=2) + "\n"
        what = f"{law}, {seconds} s"
        told = _told(sides[0]), _told(sides[1])
        return [KernelDifference("law", what, told[0], told[1], 1, f"{law}.json", text)]
    return []


def _differ(one: Mapping[str, Any] | str, other: Mapping[str, Any] | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one != other
    again = [each["segments_retransmitted"] for each in (one, other)]
    rates = [each["goodput_bps"] for each in (one, other)]
    return again[0] != again[1] or abs(rates[0] - rates[1]) > _ALIKE * max(rates)


def _told(side: Mapping[str, Any] | str) -> str:
    if isinstance(side, str):
        return side
    return (
        f"{side['goodput_bps'] / 1e6:.3f} Mbit/s, {side['segments_sent']} segments,"
        f" {side['segments_retransmitted']} sent again"
    )


def _cases(kernels: tuple[Kept, Kept], random: int, threads: int | None) -> dict[str, Any]:
    asked = [
        judging.guests(kernel.manifest.key, kernel.manifest.key, threads) for kernel in kernels
    ]
    return judging.judged(True, random, 1, True, None, asked)
