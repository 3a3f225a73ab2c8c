"""Queueing disciplines of Linux's ``tc``, each with its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.convert.words import (
    MOST_SIZE,
    Way,
    Words,
    bps,
    is_number,
    ms,
    rate_of,
    size_of,
    time_of,
)

__all__ = ["QUEUES", "leaf"]

#: The packets that a device's queue holds unless it is told another length (``txqueuelen``).
_DEVICE_HOLDS = 1000
#: The bytes of a full packet with its Ethernet header, by which ``bfifo`` counts that length.
_FRAME_BYTES = 1514
#: The packets that CoDel and PIE hold by default (``sch_codel``, ``sch_pie``).
_HOLDS = "1000 packet"

#: The round trips of cake's words, in seconds.
_ROUND_TRIPS = {
    "datacentre": 100e-6,
    "lan": 1e-3,
    "metro": 10e-3,
    "regional": 30e-3,
    "internet": 100e-3,
    "oceanic": 300e-3,
    "satellite": 1.0,
    "interplanetary": 1000.0,
}
_TINS = ("besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence")
_ISOLATION = (
    *("flowblind", "srchost", "dsthost", "hosts", "flows"),
    *("dual-srchost", "dual-dsthost", "triple-isolate"),
)
_LINK_LAYERS = (
    *("raw", "conservative", "ethernet", "docsis", "pppoe-ptm", "bridged-ptm", "ipoa-vcmux"),
    *("ipoa-llcsnap", "bridged-vcmux", "bridged-llcsnap", "pppoa-vcmux", "pppoa-llc"),
    *("pppoe-vcmux", "pppoe-llcsnap"),
)
#: A reader of a word's value, which is told the word for messages.
_Reader = Callable[[Words, str], object]


def _is(value: object) -> _Reader:
    """Return a reader of a word that stands for a value."""
    return lambda _, __: value


def _whole(words: Words, of: str) -> int:
    text = words.take(of)
    if not (text.isascii() and text.isdigit()):
        raise BadInput(f"import: {of}: found `{text}`, expected a whole number")
    if len(text) > len(str(MOST_SIZE)) or int(text) > MOST_SIZE:
        raise BadInput(f"import: {of}: found `{text}`, expected at most {MOST_SIZE}")
    return int(text)


def _bytes(words: Words, of: str) -> str:
    return f"{round(size_of(words.take(of), of))} B"


def _packets(words: Words, of: str) -> str:
    return f"{_whole(words, of)} packet"


def _fifo_packets(words: Words, of: str) -> str:
    """Return a limit in packets that tc reads as a size: 1k are 1024."""
    return f"{int(size_of(words.take(of), of, '100'))} packet"


def _whole_bytes(words: Words, of: str) -> str:
    return f"{_whole(words, of)} B"


def _rate(words: Words, of: str) -> str:
    return bps(rate_of(words.take(of), of))


def _micros(words: Words, of: str) -> str:
    """Return a time, in microseconds if it has no unit."""
    return ms(time_of(words.take(of), of, 1e-6))


def _seconds(words: Words, of: str) -> str:
    return f"{_whole(words, of)} s"


#: The key of each word, and its reader.
_CAKE: Mapping[str, tuple[str, _Reader]] = {
    **{word: ("tins", _is(word)) for word in _TINS},
    **{word: ("isolation", _is(word.replace("-", "_"))) for word in _ISOLATION},
    **{word: ("link_layer", _is(word.replace("-", "_"))) for word in _LINK_LAYERS},
    **{word: ("rtt", _is(ms(seconds))) for word, seconds in _ROUND_TRIPS.items()},
    "atm": ("framing", _is("atm")),
    "ptm": ("framing", _is("ptm")),
    "noatm": ("framing", _is("none")),
    "ack-filter": ("ack_filter", _is("conservative")),
    "ack-filter-aggressive": ("ack_filter", _is("aggressive")),
    "no-ack-filter": ("ack_filter", _is(None)),
    "wash": ("wash", _is(True)),
    "nowash": ("wash", _is(None)),
    "ingress": ("ingress", _is(True)),
    "egress": ("ingress", _is(None)),
    "unlimited": ("bandwidth", _is(None)),
    "bandwidth": ("bandwidth", _rate),
    "rtt": ("rtt", _micros),
    "memlimit": ("limit", _bytes),
    "mpu": ("mpu", _bytes),
}
#: Words of cake that change nothing here.
_CAKE_NOTHING = ("split-gso", "no-split-gso")
_ECN: Mapping[str, tuple[str, _Reader]] = {
    "ecn": ("ecn", _is(True)),
    "noecn": ("ecn", _is(False)),
}
_CODEL: Mapping[str, tuple[str, _Reader]] = {
    **_ECN,
    "limit": ("limit", _packets),
    "target": ("target", _micros),
    "interval": ("interval", _micros),
    "ce_threshold": ("ce_threshold", _micros),
}
_FQ_CODEL: Mapping[str, tuple[str, _Reader]] = {
    **_CODEL,
    "flows": ("queues", _whole),
    "quantum": ("quantum", _whole_bytes),
    "drop_batch": ("drop_batch", _whole),
}
#: Words of both kinds of PIE.
_OF_PIES: Mapping[str, tuple[str, _Reader]] = {
    **_ECN,
    "bytemode": ("byte_mode", _is(True)),
    "target": ("target", _micros),
    "tupdate": ("update", _micros),
    # In sixteenths.
    "alpha": ("alpha", lambda words, of: _whole(words, of) / 16),
    "beta": ("beta", lambda words, of: _whole(words, of) / 16),
    "limit": ("limit", _packets),
}
_PIE: Mapping[str, tuple[str, _Reader]] = {
    **_OF_PIES,
    "nobytemode": ("byte_mode", _is(False)),
    "dq_rate_estimator": ("estimate", _is("departure_rate")),
    "no_dq_rate_estimator": ("estimate", _is("sojourn")),
}
_FQ_PIE: Mapping[str, tuple[str, _Reader]] = {
    **_OF_PIES,
    "no_bytemode": ("byte_mode", _is(False)),
    # In percent.
    "ecn_prob": ("mark_below", lambda words, of: _whole(words, of) / 100),
    "quantum": ("quantum", _bytes),
    "flows": ("queues", _whole),
}
_SFQ: Mapping[str, tuple[str, _Reader]] = {
    "perturb": ("perturb", _seconds),
    "quantum": ("quantum", _bytes),
    "limit": ("limit", _packets),
    "flows": ("flows", _whole),
    "depth": ("depth", _whole),
    "divisor": ("divisor", _whole),
    "headdrop": ("drop", _is("head")),
}


def _read(
    words: Words,
    way: Way,
    keys: Mapping[str, tuple[str, _Reader]],
    told: Mapping[str, bool],
    kind: str,
    nothing: Sequence[str] = (),
) -> dict[str, Any]:
    """Read a discipline, of whose words for one key the last counts, as in tc.

    ``told`` are words without counterpart, true of those with a value; ``nothing`` those that
    change nothing here. A value of ``None`` is the discipline's own.
    """
    queue: dict[str, Any] = {"kind": kind}
    notes: dict[str, str] = {}
    while words:
        word = words.take(kind)
        of = f"{kind} {word}"
        if word in keys:
            key, reader = keys[word]
            queue[key] = reader(words, of)
        elif word in told:
            notes[word] = f"`{of} {words.take(of)}`" if told[word] else f"`{of}`"
        elif word in _TAKES_BACK and _TAKES_BACK[word] in told:
            notes.pop(_TAKES_BACK[word], None)
        elif word not in nothing:
            raise BadInput(f"import: {kind} has no `{word}`{nearest(word, (*keys, *told))}")
    way.notes += notes.values()
    return {key: value for key, value in queue.items() if value is not None}


#: Words that take back another, which has no counterpart.
_TAKES_BACK = {"nonat": "nat", "no_dq_rate_estimator": "dq_rate_estimator"}


def leaf(way: Way, of: str) -> str:
    """Return the limit of Linux's own queue where none is set, and tell it."""
    way.remarks.append(
        f"the length of the device's queue: {_DEVICE_HOLDS} packets, Linux's own, for {of}"
    )
    return f"{_DEVICE_HOLDS} packet"


def _cake(words: Words, way: Way, _: bool) -> None:
    """Read cake, whose shaper stands in front of a free link."""

    def overhead(words: Words, of: str) -> str:
        value = words.take(of)
        if value.startswith("-"):
            way.notes.append(f"`{of} {value}`, as no overhead is below zero")
            return "0 B"
        return f"{round(size_of(value, of))} B"

    keys = {**_CAKE, "overhead": ("overhead", overhead)}
    told = {"nat": False, "autorate-ingress": False, "ether-vlan": False, "fwmark": True}
    way.keys["queue"] = _read(words, way, keys, told, "cake", _CAKE_NOTHING)


def _fq_pie(words: Words, way: Way, _: bool) -> None:
    told = {"dq_rate_estimator": False, "memory_limit": True}
    way.keys["queue"] = _read(words, way, _FQ_PIE, told, "fq_pie")


def _sfq(words: Words, way: Way, _: bool) -> None:
    red = ("redflowlimit", "min", "max", "avpkt", "burst", "probability")
    told = {**dict.fromkeys(red, True), "ecn": False, "harddrop": False}
    queue = _read(words, way, _SFQ, told, "sfq")
    if queue.get("perturb") == "0 s":
        del queue["perturb"]
    way.keys["queue"] = queue


def _head_drop(words: Words, way: Way, _: bool) -> None:
    queue = _read(words, way, {"limit": ("limit", _packets)}, {}, "pfifo_head_drop")
    if "limit" not in queue:
        queue["limit"] = leaf(way, "`pfifo_head_drop` without `limit`")
    way.keys["queue"] = {**queue, "kind": "droptail", "drop": "head"}


def _drr(words: Words, way: Way, _: bool) -> None:
    """Read the discipline, or a class of it, whose quantum is that of every flow here."""
    queue = _read(words, way, {"quantum": ("quantum", _bytes)}, {}, "drr")
    before = way.keys.get("queue")
    if isinstance(before, dict) and before.get("kind") == "drr":
        if "quantum" in before and queue.get("quantum") != before["quantum"]:
            way.notes.append("all quanta of drr but the first: every flow has one quantum")
        queue |= before
    way.remarks.append("the classes of drr: each flow has a queue, and all share the limit")
    queue["limit"] = leaf(way, "the classes of `drr`")
    way.keys["queue"] = queue


def _prio(words: Words, way: Way, _: bool) -> None:
    while words:
        word = words.take("prio")
        if word not in ("bands", "priomap"):
            raise BadInput(f"import: prio has no `{word}`{nearest(word, ('bands', 'priomap'))}")
        while words.take_if(is_number) is not None:
            pass
    way.remarks.append("the bands of prio: here they are voice, best effort and bulk, by DSCP")
    way.keys["queue"] = {"kind": "prio", "limit": leaf(way, "each band of `prio`")}


def _codel(words: Words, way: Way, _: bool) -> None:
    way.keys["queue"] = {"limit": _HOLDS, **_read(words, way, _CODEL, {}, "codel")}


def _fq_codel(words: Words, way: Way, _: bool) -> None:
    told = {"memory_limit": True, "ce_threshold_selector": True}
    way.keys["queue"] = _read(words, way, _FQ_CODEL, told, "fq_codel")


def _pie(words: Words, way: Way, _: bool) -> None:
    way.keys["queue"] = {"limit": _HOLDS, **_read(words, way, _PIE, {}, "pie")}


def _pfifo(words: Words, way: Way, _: bool) -> None:
    queue = _read(words, way, {"limit": ("limit", _fifo_packets)}, {}, "pfifo")
    if "limit" not in queue:
        queue["limit"] = leaf(way, "`pfifo` without `limit`")
    way.keys["queue"] = {**queue, "kind": "droptail"}


def _bfifo(words: Words, way: Way, _: bool) -> None:
    queue = _read(words, way, {"limit": ("limit", _bytes)}, {}, "bfifo")
    if "limit" not in queue:
        leaf(way, f"`bfifo` without `limit`, of {_FRAME_BYTES} B each")
        queue["limit"] = f"{_DEVICE_HOLDS * _FRAME_BYTES} B"
    way.keys["queue"] = {**queue, "kind": "droptail"}


def _pfifo_fast(words: Words, way: Way, _: bool) -> None:
    if words:
        raise BadInput(f"import: pfifo_fast has no `{words.peek()}`: it takes no words")
    limit = leaf(way, "each band of `pfifo_fast`")
    way.notes.append("the bands of pfifo_fast: here all packets wait in one queue")
    way.keys["queue"] = {"kind": "droptail", "limit": limit}


#: The disciplines, and their readers.
QUEUES: Mapping[str, Callable[[Words, Way, bool], None]] = {
    "fq_codel": _fq_codel,
    "codel": _codel,
    "cake": _cake,
    "fq_pie": _fq_pie,
    "sfq": _sfq,
    "drr": _drr,
    "prio": _prio,
    "pie": _pie,
    "pfifo": _pfifo,
    "bfifo": _bfifo,
    "pfifo_fast": _pfifo_fast,
    "pfifo_head_drop": _head_drop,
}
