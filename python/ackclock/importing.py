"""Scenarios from the command lines of other emulators: Linux's ``tc`` and mahimahi's shells.

What a line says becomes a link; what has no counterpart is told, and never left out in silence.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ackclock._nearest import nearest
from ackclock.errors import BadInput

__all__ = ["KINDS", "Imported", "import_lines"]


@dataclass
class Way:
    """One direction of a link, as a line has it.

    Attributes
    ----------
    rate_bps
        The rate in bit/s; ``None`` if nothing limits it.
    delay_s
        The delay in seconds.
    keys
        The link's other keys.
    notes
        Sentences about what was not taken over, or in another way.
    """

    rate_bps: float | None = None
    delay_s: float = 0.0
    keys: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Imported:
    """A scenario, and what of the lines is not in it.

    Attributes
    ----------
    toml
        The text of the scenario's file, with the lines and the notes as comments.
    notes
        Sentences about what was not taken over, or in another way.
    """

    toml: str
    notes: tuple[str, ...]


def import_lines(kind: str, lines: Sequence[str], *, exact: bool = False) -> Imported:
    """Return the scenario of the command lines of another emulator.

    Parameters
    ----------
    kind
        ``"netem"`` (lines of ``tc``: netem, tbf, htb, police, and disciplines below) or
        ``"mahimahi"`` (a line of shells such as ``mm-delay`` and ``mm-link``).
    lines
        The lines. Those of ``tc`` belong to one device: the way from the sender.
    exact
        True to keep the reordering of netem's jitter.

    Returns
    -------
    Imported
        The scenario: a link from ``a`` to ``b``, and a flow over it.

    Raises
    ------
    BadInput
        A line that cannot be read: the word, and what was expected.
    """
    reader = KINDS.get(kind)
    if reader is None:
        raise BadInput(f"import: found `{kind}`, expected `netem` or `mahimahi`")
    ways = reader(lines, exact)
    notes = tuple(dict.fromkeys(note for way in ways for note in way.notes))
    return Imported(_toml(lines, ways, notes), notes)


# -- Words -------------------------------------------------------------------------------------


class Words:
    """The words of a line, taken one after another."""

    def __init__(self, line: str) -> None:
        try:
            self.words = shlex.split(line)
        except ValueError as error:
            raise BadInput(f"import: `{line}`: {error}") from None
        self.line = line
        self.at = 0

    def __bool__(self) -> bool:
        return self.at < len(self.words)

    def peek(self) -> str:
        """Return the next word; empty at the end."""
        return self.words[self.at] if self else ""

    def take(self, of: str) -> str:
        """Return the next word, which belongs to ``of``."""
        if not self:
            raise BadInput(f"import: nothing after `{of}`, expected its value")
        self.at += 1
        return self.words[self.at - 1]

    def take_if(self, fits: Callable[[str], object]) -> str | None:
        """Return the next word if it fits."""
        return self.take("") if self and fits(self.peek()) else None


_NUMBER = re.compile(r"([0-9]*\.?[0-9]+)([a-zA-Z%]*)")

#: Suffixes of rates of tc, in bit/s; `bps` are bytes.
_RATES: Mapping[str, float] = {
    prefix + unit: factor * base
    for prefix, factor in {
        "": 1.0,
        "k": 1e3,
        "m": 1e6,
        "g": 1e9,
        "t": 1e12,
        "ki": 2.0**10,
        "mi": 2.0**20,
        "gi": 2.0**30,
        "ti": 2.0**40,
    }.items()
    for unit, base in {"bit": 1.0, "bps": 8.0}.items()
} | {"": 1.0}
#: Suffixes of sizes of tc, in bytes: powers of 1024.
_SIZES: Mapping[str, float] = {
    prefix + unit: factor / divisor
    for prefix, factor in {"k": 2.0**10, "m": 2.0**20, "g": 2.0**30}.items()
    for unit, divisor in {"": 1.0, "b": 1.0, "bit": 8.0}.items()
} | {"": 1.0, "b": 1.0}
#: Suffixes of times, in seconds.
_TIMES: Mapping[str, float] = {
    **dict.fromkeys(("s", "sec", "secs"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs"), 1e-3),
    **dict.fromkeys(("us", "usec", "usecs"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nsecs"), 1e-9),
}


def _quantity(text: str, units: Mapping[str, float], of: str, example: str) -> float:
    found = _NUMBER.fullmatch(text)
    factor = units.get(found[2].lower()) if found else None
    if found is None or factor is None:
        raise BadInput(f"import: {of}: found `{text}`, expected a value such as {example}")
    return float(found[1]) * factor


def _rate(text: str, of: str) -> float:
    return _quantity(text, _RATES, of, "20mbit")


def _size(text: str, of: str) -> float:
    return _quantity(text, _SIZES, of, "32kb")


def _time(text: str, of: str, bare: float) -> float:
    return _quantity(text, {**_TIMES, "": bare}, of, "50ms")


def _share(text: str, of: str) -> float:
    value = _quantity(text, {"": 1e-2, "%": 1e-2}, of, "1%")
    if value > 1.0:
        raise BadInput(f"import: {of}: found `{text}`, expected at most 100%")
    return value


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.9g} ms"


def _bps(rate: float) -> str:
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if rate >= factor:
            return f"{rate / factor:.12g} {unit}"
    return f"{rate:.12g} bit/s"


def _droptail(limit: str) -> dict[str, Any]:
    return {"kind": "droptail", "limit": limit}


# -- tc ----------------------------------------------------------------------------------------


#: A burst of a packet or two is a link of this rate, in bytes.
_PLAIN_BURST = 3000
#: The rate of a link that nothing limits.
_FREE_BPS = 1e9
#: The words before a discipline that have a value.
_TC_VALUES = ("dev", "parent", "handle", "protocol", "prio", "pref", "classid")


def _of_tc(lines: Sequence[str], exact: bool) -> list[Way]:
    way = Way()
    for line in lines:
        for part in line.replace("&&", "\n").replace(";", "\n").splitlines():
            if part.strip():
                _tc_line(Words(part), way, exact)
    return [way]


def _tc_line(words: Words, way: Way, exact: bool) -> None:
    """Read one command of tc: of a netem, a shaper, a class or a discipline."""
    while words:
        word = words.take("tc")
        if word in ("sudo", "tc", "qdisc", "class", "filter", "add", "replace", "change", "root"):
            continue
        if word in _TC_VALUES:
            words.take(word)
            continue
        if word in ("ingress", "clsact", "u32", "matchall", "match", "flowid", "action", "default"):
            if word in ("u32", "match"):
                _skip_to(words, "police")
            continue
        read = _DISCIPLINES.get(word)
        if read is None:
            known = {**_DISCIPLINES, "netem": None}
            raise BadInput(f"import: `{word}` has no counterpart{nearest(word, known)}")
        read(words, way, exact)


def _skip_to(words: Words, word: str) -> None:
    while words and words.peek() != word:
        words.take("")


#: The tables of delays that there are here, too.
_LAWS = ("normal", "pareto", "paretonormal")
#: Packets that netem holds by default, those that it delays included.
_NETEM_HOLDS = 1000


class _Netem:
    """A netem, whose keywords stand in any order."""

    def __init__(self, words: Words, way: Way) -> None:
        self.words = words
        self.way = way
        self.delay = self.spread = 0.0
        self.table = ""
        self.limit: float | None = None
        self.ahead: float | None = None

    def read(self, exact: bool) -> None:
        """Read all keywords into the way."""
        readers = self.readers()
        while self.words:
            word = self.words.take("netem")
            known = word if word in readers else None
            # tc takes words that are cut short.
            known = known or next((it for it in readers if it.startswith(word)), None)
            if known is None:
                raise BadInput(f"import: netem has no `{word}`{nearest(word, readers)}")
            readers[known](f"netem {known}")
        if self.ahead is None:
            self._vary(exact)
        else:
            self._hold_back(self.ahead)
        self._bound()

    def readers(self) -> Mapping[str, Callable[[str], None]]:
        """Return the readers of keywords, which are told the keyword for messages."""
        return {
            **dict.fromkeys(("delay", "latency"), self._delay),
            **dict.fromkeys(("loss", "drop"), self._loss),
            **dict.fromkeys(("duplicate", "corrupt"), self._befalls),
            "distribution": self._distribution,
            "reorder": self._reorder,
            "gap": self._gap,
            "rate": self._rate,
            "limit": self._limit,
            "slot": self._slot,
            "seed": self._seed,
            "ecn": self._ecn,
        }

    def _note(self, note: str) -> None:
        self.way.notes.append(note)

    def _number(self) -> str | None:
        return self.words.take_if(_is_number)

    def _no_correlation(self, of: str) -> None:
        if self._number() is not None:
            self._note(
                f"the correlation of `{of.rsplit(maxsplit=1)[-1]}`: each packet draws by itself"
            )

    def _delay(self, of: str) -> None:
        self.delay = _time(self.words.take(of), of, 1e-9)
        spread = self._number()
        self.spread = 0.0 if spread is None else _time(spread, of, 1e-9)
        if self._number() is not None:
            self._note("the correlation of delays, which netem's draws do not have, either")

    def _distribution(self, of: str) -> None:
        self.table = self.words.take(of)

    def _befalls(self, of: str) -> None:
        self.way.keys[of.rsplit(maxsplit=1)[-1]] = _share(self.words.take(of), of)
        self._no_correlation(of)

    def _reorder(self, of: str) -> None:
        self.ahead = _share(self.words.take(of), of)
        self._no_correlation(of)

    def _gap(self, of: str) -> None:
        if float(self.words.take(of)) > 1:
            self._note("`gap`: which packets go ahead is drawn, and not counted")

    def _rate(self, of: str) -> None:
        self.way.rate_bps = _rate(self.words.take(of), of)
        while self._number() is not None:
            self._note("the overhead and the cells of netem's `rate`")

    def _limit(self, of: str) -> None:
        self.limit = _size(self.words.take(of), of)

    def _seed(self, of: str) -> None:
        self.words.take(of)
        self._note("`seed`: the scenario has a seed of its own")

    def _ecn(self, _: str) -> None:
        self._note("`ecn`: what netem loses is lost, and not marked")

    def _loss(self, of: str) -> None:
        model = self.words.take_if(lambda word: word in ("random", "state", "gemodel"))
        values: list[float] = []
        while (text := self._number()) is not None:
            values.append(_share(text, "netem loss"))
        if not values:
            raise BadInput(f"import: nothing after `{of}`, expected a share such as 1%")
        to_good = values[1] if len(values) > 1 else 1 - values[0]
        if model == "gemodel":
            bad, good = (*values[2:], *(1.0, 0.0)[max(0, len(values) - 2) :])[:2]
            burst = {"to_bad": values[0], "to_good": to_good, "in_bad": bad, "in_good": good}
            self.way.keys["loss"] = burst
            self._note(
                "`gemodel`: a packet is lost by the state after the step, in netem by that before"
            )
        elif model == "state":
            if len(values) > len(("p13", "p31")):
                raise BadInput("import: netem `loss state` beyond p13 and p31 has no counterpart")
            self.way.keys["loss"] = {"to_bad": values[0], "to_good": to_good}
        else:
            self.way.keys["loss"] = values[0]
            if len(values) > 1:
                self._note("the correlation of `loss`, with which netem loses far less than asked")

    def _slot(self, of: str) -> None:
        if self.words.peek() == "distribution":
            raise BadInput("import: netem `slot distribution` has no counterpart")
        every = _time(self.words.take(of), of, 1e-9)
        most = self._number()
        while self.words.peek() in ("packets", "bytes"):
            self._note(f"`slot {self.words.take(of)}`: a slot takes all that is there")
            self.words.take(of)
        if most is not None and _time(most, of, 1e-9) != every:
            self._note("the longest `slot`: slots are as far apart as the shortest")
        self.way.keys["jitter"] = {"kind": "slots", "every": _ms(every)}

    def _hold_back(self, ahead: float) -> None:
        """Delay those packets that do not go ahead."""
        if self.delay == 0:
            raise BadInput("import: netem `reorder` needs a delay; expected `delay` beside it")
        self.way.keys["reorder"] = {"share": round(1 - ahead, 9), "delay": _ms(self.delay)}
        if self.spread:
            self._note("the jitter beside `reorder`")

    def _vary(self, exact: bool) -> None:
        """Delay all packets, by delays that may vary."""
        if self.table and self.table not in _LAWS:
            self._note(f"the table `{self.table}`: delays are evenly drawn, as without a table")
        if self.table in _LAWS and self.spread and "jitter" not in self.way.keys:
            self.way.keys["jitter"] = {
                "kind": "netem",
                "mean": _ms(self.delay),
                "spread": _ms(self.spread),
                "law": self.table,
                **self._reorders(exact),
            }
            return
        spread = min(self.spread, self.delay)
        self.way.delay_s += self.delay - spread
        if spread == 0:
            return
        if "jitter" in self.way.keys:
            self._note("the jitter beside `slot`")
            return
        even = {"kind": "uniform", "most": _ms(2 * spread)}
        self.way.keys["jitter"] = {**even, **self._reorders(exact)}

    def _reorders(self, exact: bool) -> dict[str, bool]:
        """Return the key of a jitter that reorders: with a rate netem keeps the order."""
        if self.way.rate_bps is not None:
            return {}
        if not exact:
            self._note("netem's jitter reorders; here packets keep their order (--exact)")
        return {"reorders": True} if exact else {}

    def _bound(self) -> None:
        """Bound what waits: netem's limit counts what is delayed, too."""
        rate = self.way.rate_bps
        if rate is None:
            if self.limit is not None:
                self._note("`limit`: nothing waits on a link whose rate is not limited")
            return
        held = rate * self.delay / 8 / 1500
        waits = max(1, round((self.limit or _NETEM_HOLDS) - held))
        if self.limit is None and "queue" in self.way.keys:
            return
        self.way.keys["queue"] = _droptail(f"{waits} packet")
        if self.limit is not None and held > 0:
            self._note(
                f"`limit {self.limit:g}` counts packets that are delayed: less rate times delay, "
                f"{waits} may wait"
            )


def _netem(words: Words, way: Way, exact: bool) -> None:
    _Netem(words, way).read(exact)


#: Other words for keywords of tbf and police.
_BURSTS = ("burst", "buffer", "maxburst")
#: Keywords whose values change nothing here.
_PASSED = ("mtu", "minburst", "mpu", "overhead", "linklayer", "avrate")


def _tbf(words: Words, way: Way, _: bool) -> None:
    given: dict[str, float] = {}
    readers: Mapping[str, Callable[[str, str], float]] = {
        "rate": _rate,
        "peakrate": _rate,
        **dict.fromkeys(_BURSTS, lambda text, of: _size(text.split("/")[0], of)),
        "latency": lambda text, of: _time(text, of, 1e-6),
        "limit": _size,
    }
    while words:
        word = words.take("tbf")
        if word in readers:
            key = "burst" if word in _BURSTS else word
            given[key] = readers[word](words.take(word), f"tbf {word}")
        elif word in _PASSED:
            words.take(word)
        else:
            raise BadInput(f"import: tbf has no `{word}`{nearest(word, readers)}")
    if not {"rate", "burst"} <= given.keys():
        raise BadInput("import: tbf: expected `rate` and `burst`")
    rate, burst = given["rate"], given["burst"]
    way.rate_bps = rate
    if burst > _PLAIN_BURST:
        peak = given.get("peakrate", max(_FREE_BPS, 10 * rate))
        way.keys["channel"] = {"kind": "shaper", "burst": f"{round(burst)} B", "peak": _bps(peak)}
    limit = given.get("limit")
    if "latency" in given:
        limit = rate * given["latency"] / 8 + burst
    if limit is not None and "queue" not in way.keys:
        way.keys["queue"] = _droptail(f"{round(limit)} B")


def _htb(words: Words, way: Way, _: bool) -> None:
    """Read a class, or nothing of the discipline itself."""
    while words:
        word = words.take("htb")
        if word in ("rate", "ceil"):
            rate = _rate(words.take(word), f"htb {word}")
            way.rate_bps = rate if word == "rate" or way.rate_bps is None else way.rate_bps
        elif words:
            words.take(word)


def _police(words: Words, way: Way, _: bool) -> None:
    policer: dict[str, Any] = {"kind": "policer"}
    while words:
        word = words.take("police")
        if word == "rate":
            policer["rate"] = _bps(_rate(words.take(word), "police rate"))
        elif word in _BURSTS:
            policer["burst"] = f"{round(_size(words.take(word).split('/')[0], 'police burst'))} B"
        elif word == "peakrate":
            policer["peak"] = _bps(_rate(words.take(word), "police peakrate"))
        elif word in _PASSED:
            words.take(word)
        elif word == "conform-exceed":
            if not words.take(word).startswith("drop"):
                way.notes.append("`conform-exceed` of another action than drop")
        elif word not in ("drop", "flowid", ":1"):
            known = ("rate", "burst", "peakrate", "mtu", "conform-exceed", "drop")
            raise BadInput(f"import: police has no `{word}`{nearest(word, known)}")
    way.keys["queue"] = policer


def _queue(kind: str, **names: str) -> Callable[[Words, Way, bool], None]:
    """Return a reader of a discipline whose keywords have these names here."""

    def read(words: Words, way: Way, _: bool) -> None:
        queue: dict[str, Any] = {"kind": kind}
        while words:
            word = words.take(kind)
            key = names.get(word)
            if word in ("ecn", "noecn"):
                queue["ecn"] = word == "ecn"
            elif word == "limit":
                limit = words.take(word)
                packets = kind != "droptail" or names.get("limit") == "packets"
                unit = "packet" if packets else "B"
                value = float(limit) if packets else _size(limit, f"{kind} limit")
                queue["limit"] = f"{value:.12g} {unit}"
            elif key in ("target", "interval", "update"):
                queue[key] = _ms(_time(words.take(word), f"{kind} {word}", 1e-6))
            elif key == "quantum":
                queue[key] = f"{words.take(word)} B"
            elif key == "queues":
                queue[key] = int(words.take(word))
            elif words:
                way.notes.append(f"`{kind} {word} {words.take(word)}`")
        way.keys["queue"] = queue

    return read


_DISCIPLINES: Mapping[str, Callable[[Words, Way, bool], None]] = {
    "netem": _netem,
    "tbf": _tbf,
    "htb": _htb,
    "police": _police,
    "fq_codel": _queue(
        "fq_codel", target="target", interval="interval", quantum="quantum", flows="queues"
    ),
    "codel": _queue("codel", target="target", interval="interval"),
    "pie": _queue("pie", target="target", tupdate="update"),
    "pfifo": _queue("droptail", limit="packets"),
    "bfifo": _queue("droptail", limit="bytes"),
    "pfifo_fast": _queue("droptail", limit="packets"),
}


# -- mahimahi ----------------------------------------------------------------------------------


def _of_mahimahi(lines: Sequence[str], _: bool) -> list[Way]:
    up, down = Way(), Way()
    words = Words(" ".join(lines))
    while words:
        word = words.take("")
        if word == "mm-delay":
            _mm_delay(words, up, down)
        elif word == "mm-loss":
            way = up if words.take(word) == "uplink" else down
            way.keys["loss"] = float(words.take(word))
        elif word == "mm-link":
            traces = words.take(word), words.take(word)
            for way, trace in zip((up, down), traces, strict=True):
                way.rate_bps = way.rate_bps or 10e6
                way.keys["channel"] = {"kind": "trace", "file": trace}
                way.notes.append(
                    "`rate` beside a trace is used for limits in BDP alone: put in its mean"
                )
            _mm_queues(words, up, down)
        elif word in ("mm-onoff", "mm-intermittent"):
            raise BadInput(f"import: `{word}` has no counterpart")
        elif word.startswith("mm-"):
            known = ("mm-delay", "mm-link", "mm-loss")
            raise BadInput(f"import: `{word}` has no counterpart{nearest(word, known)}")
        else:
            # The program that runs inside.
            break
    return [up, down]


def _mm_delay(words: Words, up: Way, down: Way) -> None:
    value = words.take("mm-delay")
    file = words.take_if(lambda word: not word.startswith(("mm-", "-")) and not _is_number(word))
    for way in (up, down):
        if file is None:
            way.delay_s += _quantity(value, {"": 1e-3}, "mm-delay", "40")
        else:
            # LeoReplayer: a slot's length, and a file of delays.
            every = _ms(_quantity(value, {"": 1e-3}, "mm-delay", "10"))
            way.keys["jitter"] = {"kind": "trace", "file": file, "every": every}
            way.notes.append("LeoReplayer reorders where the delay falls; here packets do not")


def _mm_queues(words: Words, up: Way, down: Way) -> None:
    kinds = {"infinite": "droptail", "droptail": "droptail", "codel": "codel", "pie": "pie"}
    while words.peek().startswith("--"):
        option, _, value = words.take("mm-link").partition("=")
        way = up if option.startswith("--uplink") else down
        if option.endswith("-queue"):
            if value not in kinds:
                raise BadInput(f"import: queue `{value}` has no counterpart{nearest(value, kinds)}")
            way.keys["queue"] = {"kind": kinds[value]}
        elif option.endswith("-queue-args"):
            queue = way.keys.setdefault("queue", {"kind": "droptail"})
            for pair in value.strip("\"'").split(","):
                name, _, number = pair.partition("=")
                if name in ("packets", "bytes"):
                    queue["limit"] = f"{number} {'packet' if name == 'packets' else 'B'}"
                elif name in ("target", "interval", "qdelay_ref"):
                    queue["target" if name == "qdelay_ref" else name] = f"{number} ms"
                else:
                    way.notes.append(f"`{pair}` of a queue")
        elif option not in ("--once", "--meter-all") and "-log" not in option:
            way.notes.append(f"`{option}`")


#: The kinds of lines that can be read.
KINDS: Mapping[str, Callable[[Sequence[str], bool], list[Way]]] = {
    "netem": _of_tc,
    "tc": _of_tc,
    "mahimahi": _of_mahimahi,
}


# -- The file ----------------------------------------------------------------------------------


def _toml(lines: Sequence[str], ways: Sequence[Way], notes: Sequence[str]) -> str:
    """Return the scenario's file."""
    text = [f"# Imported from: {part.strip()}" for line in lines for part in line.splitlines()]
    text += [f"# Not taken over: {note}." for note in notes]
    text += ['duration = "30 s"', "", "[topology]", 'kind = "graph"', "", "[[topology.link]]"]
    text += ['name = "link"', 'from = "a"', 'to = "b"']
    text += _keys(ways[0])
    text.append("")
    # The way back of one device's line is as free as a wire.
    text.append("[topology.link.reverse]")
    text += _keys(ways[1] if len(ways) > 1 else Way(), beside=ways[0])
    text += ["", "[[flow]]", 'from = "a"', 'to = "b"', 'variant = "cubic"', ""]
    return "\n".join(text)


#: The values on the way back of keys that only the way there has.
_NEUTRAL = {
    "loss": 0,
    "duplicate": 0,
    "corrupt": 0,
    "reorder": {"share": 0, "delay": "0 s"},
    "jitter": {"kind": "trace", "delays_ms": [0]},
    "queue": {"kind": "droptail"},
}


def _keys(way: Way, beside: Way | None = None) -> Iterator[str]:
    yield f'rate = "{_bps(way.rate_bps or _FREE_BPS)}"'
    yield f'delay = "{_ms(way.delay_s)}"'
    keys = dict(way.keys)
    for key in () if beside is None else beside.keys:
        if key not in keys and key in _NEUTRAL:
            keys[key] = _NEUTRAL[key]
        elif key not in keys:
            # A shaper in front of the free wire would be slower than that.
            keys[key] = {"kind": "shaper", "burst": "1 GB", "peak": "10 Gbit/s"}
    for key, value in keys.items():
        yield f"{key} = {_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(inner) for inner in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{value:.12g}" if isinstance(value, float) else str(value)
