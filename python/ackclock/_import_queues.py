"""Disciplines of Linux's ``tc`` with words of their own: cake, fq_pie, sfq, drr and prio."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ackclock._import_words import Way, Words, bps, is_number, ms, rate_of, size_of, time_of
from ackclock._nearest import nearest
from ackclock.errors import BadInput

__all__ = ["cake", "drr", "fq_pie", "head_drop", "prio", "sfq"]

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
    if not text.isdigit():
        raise BadInput(f"import: {of}: found `{text}`, expected a whole number")
    return int(text)


def _bytes(words: Words, of: str) -> str:
    return f"{round(size_of(words.take(of), of))} B"


def _packets(words: Words, of: str) -> str:
    return f"{_whole(words, of)} packet"


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
    "wash": ("wash", _is(True)),
    "ingress": ("ingress", _is(True)),
    "bandwidth": ("bandwidth", _rate),
    "rtt": ("rtt", _micros),
    "memlimit": ("limit", _bytes),
    "mpu": ("mpu", _bytes),
}
#: Words of cake that say what is so anyway.
_CAKE_NOTHING = (
    *("unlimited", "nonat", "nowash", "no-ack-filter", "egress", "split-gso", "no-split-gso"),
)
_FQ_PIE: Mapping[str, tuple[str, _Reader]] = {
    "ecn": ("ecn", _is(True)),
    "noecn": ("ecn", _is(False)),
    "bytemode": ("byte_mode", _is(True)),
    "no_bytemode": ("byte_mode", _is(False)),
    "target": ("target", _micros),
    "tupdate": ("update", _micros),
    # In sixteenths, and in percent.
    "alpha": ("alpha", lambda words, of: _whole(words, of) / 16),
    "beta": ("beta", lambda words, of: _whole(words, of) / 16),
    "ecn_prob": ("mark_below", lambda words, of: _whole(words, of) / 100),
    "quantum": ("quantum", _bytes),
    "flows": ("queues", _whole),
    "limit": ("limit", _packets),
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
    """Read a discipline.

    ``told`` are words without counterpart, true of those with a value; ``nothing`` those that say
    what is so anyway.
    """
    queue: dict[str, Any] = {"kind": kind}
    while words:
        word = words.take(kind)
        of = f"{kind} {word}"
        if word in keys:
            key, reader = keys[word]
            queue[key] = reader(words, of)
        elif word in told:
            way.notes.append(f"`{of} {words.take(of)}`" if told[word] else f"`{of}`")
        elif word not in nothing:
            raise BadInput(f"import: {kind} has no `{word}`{nearest(word, (*keys, *told))}")
    return queue


def cake(words: Words, way: Way, _: bool) -> None:
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


def fq_pie(words: Words, way: Way, _: bool) -> None:
    told = {"dq_rate_estimator": False, "no_dq_rate_estimator": False, "memory_limit": True}
    way.keys["queue"] = _read(words, way, _FQ_PIE, told, "fq_pie")


def sfq(words: Words, way: Way, _: bool) -> None:
    red = ("redflowlimit", "min", "max", "avpkt", "burst", "probability")
    told = {**dict.fromkeys(red, True), "ecn": False, "harddrop": False}
    queue = _read(words, way, _SFQ, told, "sfq")
    if queue.get("perturb") == "0 s":
        del queue["perturb"]
    way.keys["queue"] = queue


def head_drop(words: Words, way: Way, _: bool) -> None:
    queue = _read(words, way, {"limit": ("limit", _packets)}, {}, "pfifo_head_drop")
    way.keys["queue"] = {**queue, "kind": "droptail", "drop": "head"}


def drr(words: Words, way: Way, _: bool) -> None:
    """Read the discipline, or a class of it, whose quantum is that of every flow here."""
    queue = _read(words, way, {"quantum": ("quantum", _bytes)}, {}, "drr")
    before = way.keys.get("queue")
    if isinstance(before, dict) and before.get("kind") == "drr":
        if queue != before and "quantum" in before:
            way.notes.append("all quanta of drr but the first: every flow has one quantum")
        queue |= before
    way.notes.append("the classes of drr: each flow has a queue")
    way.keys["queue"] = queue


def prio(words: Words, way: Way, _: bool) -> None:
    while words:
        word = words.take("prio")
        if word not in ("bands", "priomap"):
            raise BadInput(f"import: prio has no `{word}`{nearest(word, ('bands', 'priomap'))}")
        while words.take_if(is_number) is not None:
            pass
    way.notes.append("the bands of prio: here they are voice, best effort and bulk, by DSCP")
    way.keys["queue"] = {"kind": "prio"}
