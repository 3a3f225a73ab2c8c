"""Ways from lines of Linux's ``tc``: netem, tbf, htb, police, and the disciplines below them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.convert.disciplines import QUEUES, leaf
from ackclock.convert.shell import as_command, commands
from ackclock.convert.words import (
    Way,
    Words,
    bps,
    droptail,
    is_number,
    ms,
    quantity,
    rate_of,
    share_of,
    size_of,
    time_of,
)

__all__ = ["FREE_BPS", "of_tc"]


#: A burst of a packet or two is a link of this rate, in bytes.
_PLAIN_BURST = 3000
#: The bytes of a full packet with its Ethernet header, which tc counts.
_FRAME_BYTES = 1514
#: The rate of a link that nothing limits.
FREE_BPS = 1e9
#: The words around a discipline that stand alone.
_TC_ALONE = (
    *("qdisc", "class", "filter", "add", "replace", "change", "root", "ingress", "clsact"),
    *("u32", "matchall", "match", "flowid", "action", "default"),
)
#: The words before a discipline that have a value.
_TC_VALUES = ("dev", "parent", "handle", "protocol", "classid")


def of_tc(lines: Sequence[str], exact: bool) -> list[Way]:
    """Return the ways there and back that lines of ``tc`` make."""
    tc = _Tc(exact)
    for part in commands(lines):
        words = Words(part)
        _skip_prefix(words)
        if words and as_command(words):
            tc.read(words)
    return tc.found()


def _skip_prefix(words: Words) -> None:
    """Skip what stands before the words of tc, and commands of other programs."""
    while words:
        word = words.peek().rsplit("/", 1)[-1]
        if word == "sudo":
            words.take(word)
        elif word == "ip" and words.words[words.at + 1 : words.at + 3] == ["netns", "exec"]:
            words.at += 4
        elif word == "tc":
            words.take(word)
            if words.peek() in ("-n", "-netns"):
                words.at += 2
            return
        elif word in ("ip", "modprobe", "ethtool", "ifconfig"):
            words.at = len(words.words)
        else:
            return


class _Tc:
    """Commands of tc: for each device the way that it sends on, and the disciplines there."""

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.ways: dict[str, Way] = {}
        self.kinds: dict[str, list[str]] = {}

    def read(self, words: Words) -> None:
        """Read one command: of a discipline, a class or a filter."""
        rest = words.words[words.at :]
        device = rest[rest.index("dev") + 1] if "dev" in rest[:-1] else next(iter(self.ways), "")
        self.ways.setdefault(device, Way())
        self.kinds.setdefault(device, [])
        of = rest[0] if rest[0] in ("qdisc", "class", "filter") else ""
        verb = rest[1] if of and len(rest) > 1 else ""
        if verb in ("del", "delete"):
            self._forget(device, [])
            return
        if of == "qdisc" and verb in ("change", "replace") and self.kinds[device]:
            if len(self.kinds[device]) > 1:
                raise BadInput("import: a change of one of several disciplines has no counterpart")
            self._forget(device, ["states before the last `change`"])
        while words:
            self._word(words, device, of)

    def _forget(self, device: str, notes: list[str]) -> None:
        self.ways[device], self.kinds[device] = Way(notes=notes), []

    def _word(self, words: Words, device: str, of: str) -> None:
        word = words.take("tc")
        if word in _TC_ALONE:
            if word in ("u32", "match"):
                _skip_to(words, "police")
            return
        if word in _TC_VALUES or (of == "filter" and word in ("prio", "pref")):
            words.take(word)
            return
        read = _DISCIPLINES.get(word)
        if read is None:
            raise BadInput(f"import: `{word}` has no counterpart{nearest(word, _DISCIPLINES)}")
        way = self.ways[device]
        before = way.rate_bps
        read(words, way, self.exact)
        self.kinds[device].append(word)
        if before is not None and way.rate_bps is not None and way.rate_bps != before:
            way.notes.append(f"the larger of {bps(before)} and {bps(way.rate_bps)}")
            way.rate_bps = min(before, way.rate_bps)

    def found(self) -> list[Way]:
        """Return the way there, and the way back if there is one."""
        if not any(self.kinds.values()):
            raise BadInput("import: no discipline in it, expected a line as `netem delay 20ms`")
        devices = [device for device in self.ways if self.kinds[device]]
        for device in devices:
            way = self.ways[device]
            if "htb" in self.kinds[device] and way.rate_bps is not None and "queue" not in way.keys:
                limit = leaf(way, "a class of `htb` without a discipline below it")
                way.keys["queue"] = droptail(limit)
        if len(devices) > len(("there", "back")):
            named = ", ".join(f"`{device}`" for device in devices)
            raise BadInput(f"import: found lines of {named}; expected one device or two")
        ways = [self.ways[device] for device in devices]
        if len(ways) > 1:
            ways[1].remarks.insert(0, f"`{devices[1]}`: its lines are taken for the way back")
        return ways


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
        self.gap = 1.0

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
        if self.ahead is None and self.gap == 1:
            self._vary(exact)
        else:
            # One goes ahead of so many that are delayed, and of those that the draw then delays.
            self._hold_back(1 / (self.gap - 1 + 1 / (self.ahead or 1.0)))
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

    def _remark(self, remark: str) -> None:
        self.way.remarks.append(remark)

    def _number(self) -> str | None:
        return self.words.take_if(is_number)

    def _no_correlation(self, of: str) -> None:
        if self._number() is not None:
            self._note(
                f"the correlation of `{of.rsplit(maxsplit=1)[-1]}`: each packet draws by itself"
            )

    def _delay(self, of: str) -> None:
        text = self.words.take(of)
        self.delay = time_of(text, of, 1e-9)
        if text.replace(".", "").isdigit() and self.delay > 0:
            self._remark(
                f"`delay {text}` has no unit: nanoseconds in tc of today, microseconds before"
            )
        spread = self._number()
        self.spread = 0.0 if spread is None else time_of(spread, of, 1e-9)
        if self.spread and self.words.are_shown:
            self._note("the table of the delays: `tc qdisc show` does not print it")
        if self._number() is not None:
            self._note("the correlation of delays, which netem's draws do not have, either")

    def _distribution(self, of: str) -> None:
        self.table = self.words.take(of)

    def _befalls(self, of: str) -> None:
        self.way.keys[of.rsplit(maxsplit=1)[-1]] = share_of(self.words.take(of), of)
        self._no_correlation(of)

    def _reorder(self, of: str) -> None:
        self.ahead = share_of(self.words.take(of), of)
        self._no_correlation(of)

    def _gap(self, of: str) -> None:
        self.gap = max(1.0, quantity(self.words.take(of), {"": 1.0}, of, "5"))
        if self.gap > 1:
            self._remark(
                "`gap`: which packets go ahead is drawn, in the same share, and not counted"
            )

    def _rate(self, of: str) -> None:
        self.way.rate_bps = rate_of(self.words.take(of), of)
        while self._number() is not None:
            self._note("the overhead and the cells of netem's `rate`")

    def _limit(self, of: str) -> None:
        self.limit = size_of(self.words.take(of), of)

    def _seed(self, of: str) -> None:
        self.words.take(of)
        self._note("`seed`: the scenario has a seed of its own")

    def _ecn(self, _: str) -> None:
        self._note("`ecn`: what netem loses is lost, and not marked")

    def _loss(self, of: str) -> None:
        model = self.words.take_if(lambda word: word in ("random", "state", "gemodel"))
        values: list[float] = []
        while (text := self._number()) is not None:
            values.append(share_of(text, "netem loss"))
        if not values:
            raise BadInput(f"import: nothing after `{of}`, expected a share such as 1%")
        to_good = values[1] if len(values) > 1 else 1 - values[0]
        if model == "gemodel":
            bad, good = (*values[2:], *(1.0, 0.0)[max(0, len(values) - 2) :])[:2]
            burst = {"to_bad": values[0], "to_good": to_good, "in_bad": bad, "in_good": good}
            self.way.keys["loss"] = burst
            self._remark(
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
        every = time_of(self.words.take(of), of, 1e-9)
        most = self._number()
        while self.words.peek() in ("packets", "bytes"):
            self._note(f"`slot {self.words.take(of)}`: a slot takes all that is there")
            self.words.take(of)
        if most is not None and time_of(most, of, 1e-9) != every:
            self._note("the longest `slot`: slots are as far apart as the shortest")
        self.way.keys["jitter"] = {"kind": "slots", "every": ms(every)}

    def _hold_back(self, ahead: float) -> None:
        """Delay those packets that do not go ahead."""
        if self.delay == 0:
            raise BadInput("import: netem `reorder` needs a delay; expected `delay` beside it")
        self.way.keys["reorder"] = {"share": round(1 - ahead, 9), "delay": ms(self.delay)}
        if self.spread:
            self._note("the jitter beside `reorder`")

    def _vary(self, exact: bool) -> None:
        """Delay all packets, by delays that may vary."""
        if self.table and self.table not in _LAWS:
            self._note(f"the table `{self.table}`: delays are evenly drawn, as without a table")
        wide = self.spread > self.delay
        if self.spread and (self.table in _LAWS or wide) and "jitter" not in self.way.keys:
            law = {"law": self.table} if self.table in _LAWS else {}
            self.way.keys["jitter"] = {
                "kind": "netem",
                "mean": ms(self.delay),
                "spread": ms(self.spread),
                **law,
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
        even = {"kind": "uniform", "most": ms(2 * spread)}
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
        limit = self.limit or _NETEM_HOLDS
        rate = self.way.rate_bps
        if rate is None:
            if self.delay > 0:
                self._note(f"the limit of {limit:g} packets that netem delays at once")
            return
        if self.limit is None and "queue" in self.way.keys:
            return
        held = rate * self.delay / 8 / 1500
        waits = limit - held
        if held == 0:
            pass
        elif waits < limit / 2:
            waits = limit
            self._remark(
                f"the limit of {limit:g} packets that netem delays at once, where rate times delay "
                f"is {held:.0f}: so many may wait"
            )
        else:
            self._remark(
                f"{limit:g} packets are netem's limit with those delayed: {waits:.0f} may wait"
            )
        if "queue" in self.way.keys:
            self._note("the limit above: a discipline below has its own queue")
        self.way.keys["queue"] = droptail(f"{max(1, round(waits))} packet")


def _netem(words: Words, way: Way, exact: bool) -> None:
    _Netem(words, way).read(exact)


#: Other words for keywords of tbf and police.
_BURSTS = ("burst", "buffer", "maxburst")
#: Keywords whose values change nothing here.
_PASSED = ("mtu", "minburst", "mpu", "overhead", "linklayer", "avrate")


def _tbf(words: Words, way: Way, _: bool) -> None:
    given: dict[str, float] = {}
    readers: Mapping[str, Callable[[str, str], float]] = {
        "rate": rate_of,
        "peakrate": rate_of,
        **dict.fromkeys(_BURSTS, lambda text, of: size_of(text.split("/")[0], of)),
        **dict.fromkeys(("latency", "lat"), lambda text, of: time_of(text, of, 1e-6)),
        "limit": size_of,
    }
    while words:
        word = words.take("tbf")
        if word in readers:
            key = "burst" if word in _BURSTS else "latency" if word == "lat" else word
            given[key] = readers[word](words.take(word), f"tbf {word}")
        elif word in _PASSED:
            way.notes.append(f"`tbf {word} {words.take(word)}`")
        else:
            raise BadInput(f"import: tbf has no `{word}`{nearest(word, readers)}")
    if not {"rate", "burst"} <= given.keys():
        raise BadInput("import: tbf: expected `rate` and `burst`")
    if not given.keys() & {"limit", "latency"}:
        raise BadInput("import: tbf: expected `limit` or `latency`")
    rate, burst = given["rate"], given["burst"]
    way.rate_bps = rate
    if burst < _FRAME_BYTES:
        way.remarks.append(
            f"`tbf burst` of {round(burst)} B: Linux drops every larger packet, and a full one has "
            f"{_FRAME_BYTES} B; here a plain link of the rate"
        )
    elif burst <= _PLAIN_BURST:
        way.remarks.append(f"`tbf burst` of {round(burst)} B: here a plain link of the rate")
    else:
        peak = given.get("peakrate", max(FREE_BPS, 10 * rate))
        way.keys["channel"] = {"kind": "shaper", "burst": f"{round(burst)} B", "peak": bps(peak)}
    limit = given.get("limit")
    if "latency" in given:
        limit = rate * given["latency"] / 8 + burst
    if limit is not None and "queue" not in way.keys:
        way.keys["queue"] = droptail(f"{round(limit)} B")


def _htb(words: Words, way: Way, _: bool) -> None:
    """Read a class, or nothing of the discipline itself."""
    given: dict[str, str] = {}
    while words:
        word = words.take("htb")
        if words:
            given[word] = words.take(word)
    for word in given.keys() - {"rate", "ceil", "default", "r2q"}:
        way.notes.append(f"`htb {word} {given[word]}`")
    if "rate" not in given:
        return
    if way.rate_bps is not None:
        way.notes.append("all classes of htb but the slowest")
    rate = rate_of(given["rate"], "htb rate")
    # A class alone borrows up to its ceiling.
    way.rate_bps = max(rate, rate_of(given.get("ceil", given["rate"]), "htb ceil"))
    if way.rate_bps > rate:
        way.remarks.append("`htb rate`: a class alone sends at its `ceil`")


#: Words for the size of the largest packet.
_LARGEST = ("mtu", "minburst")
#: Actions of policers that drop, and that do not.
_DROPPING = ("drop", "shot")
_PASSING = ("ok", "pass", "pipe", "continue")


def _police(words: Words, way: Way, _: bool) -> None:
    given, action = _police_words(words, way)
    exceeding, *rest = action.split("/", 1)
    if not {"rate", "burst"} <= given.keys():
        raise BadInput("import: police: expected `rate` and `burst`")
    if rest and rest[0] in _DROPPING:
        raise BadInput("import: police: packets that conform are dropped, too: nothing passes")
    if exceeding in _PASSING:
        way.notes.append(f"`police`, whose action `{exceeding}` drops nothing")
        return
    if exceeding == "reclassify":
        way.remarks.append(
            "`reclassify`, the action of `police` where none is named: Linux asks its filters "
            "again, and drops at last what none but this one takes; here it is dropped at once"
        )
    way.keys["queue"] = _policer(given, way)


def _police_words(words: Words, way: Way) -> tuple[dict[str, float], str]:
    """Return the quantities of a policer, and its action."""
    given: dict[str, float] = {}
    action = "reclassify"
    readers: Mapping[str, Callable[[str, str], float]] = {
        "rate": rate_of,
        "peakrate": rate_of,
        **dict.fromkeys((*_BURSTS, *_LARGEST), lambda text, of: size_of(text.split("/")[0], of)),
    }
    actions = (*_DROPPING, "reclassify", *_PASSING)
    while words:
        word = words.take("police")
        if word in readers:
            key = "burst" if word in _BURSTS else "mtu" if word in _LARGEST else word
            given[key] = readers[word](words.take(word), f"police {word}")
        elif word in _PASSED:
            way.notes.append(f"`police {word} {words.take(word)}`")
        elif word == "conform-exceed":
            action = words.take(word)
            if not set(action.split("/")) <= set(actions):
                raise BadInput(f"import: police conform-exceed: `{action}` has no counterpart")
        elif word in actions:
            action = word
        elif word not in ("flowid", "classid") and not word.startswith(":"):
            known = (*readers, *_PASSED, "conform-exceed", *actions)
            raise BadInput(f"import: police has no `{word}`{nearest(word, known)}")
    return given, action


def _policer(given: Mapping[str, float], way: Way) -> dict[str, Any]:
    policer = {"kind": "policer", "rate": bps(given["rate"]), "burst": f"{round(given['burst'])} B"}
    mtu = given.get("mtu")
    if "peakrate" in given:
        if mtu is None:
            raise BadInput("import: police: expected `mtu` beside `peakrate`")
        # The bucket of the peak rate holds one largest packet.
        policer |= {"peak": bps(given["peakrate"]), "peak_burst": f"{round(mtu)} B"}
    elif mtu is not None and mtu < _FRAME_BYTES:
        way.notes.append(
            f"`police mtu` of {round(mtu)} B, above which Linux drops every packet: here by the "
            "rate alone"
        )
    return policer


_DISCIPLINES: Mapping[str, Callable[[Words, Way, bool], None]] = {
    "netem": _netem,
    "tbf": _tbf,
    "htb": _htb,
    "police": _police,
    **QUEUES,
}
