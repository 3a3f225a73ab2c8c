"""Ways from lines of mahimahi's shells, and of LeoReplayer's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.convert.words import Way, Words, is_number, ms, quantity

__all__ = ["of_mahimahi"]


def of_mahimahi(lines: Sequence[str], _: bool) -> list[Way]:
    """Return the ways there and back of a line of mahimahi's shells."""
    up, down = Way(), Way()
    words = Words(" ".join(lines))
    if not words.peek().startswith("mm-"):
        raise BadInput("import: no shell in it, expected a line as `mm-delay 40 mm-link a b`")
    # The program that runs inside follows the shells.
    while words and (word := words.take("")).startswith("mm-"):
        read = _SHELLS.get(word)
        if read is None:
            raise BadInput(f"import: `{word}` has no counterpart{nearest(word, _SHELLS)}")
        read(words, up, down)
    for way in (up, down):
        if way.keys.get("queue") == {"kind": "droptail"}:
            way.remarks.append("`droptail` without a size: nothing limits what waits")
    return [up, down]


_DIRECTIONS = ("uplink", "downlink")


def _direction(words: Words, of: str) -> str:
    word = words.take(of)
    if word not in _DIRECTIONS:
        raise BadInput(f"import: {of}: found `{word}`{nearest(word, _DIRECTIONS)}")
    return word


def _mm_loss(words: Words, up: Way, down: Way) -> None:
    way = up if _direction(words, "mm-loss") == "uplink" else down
    share = quantity(words.take("mm-loss"), {"": 1.0}, "mm-loss", "0.01")
    if share > 1:
        raise BadInput(f"import: mm-loss: found `{share:g}`, expected at most 1")
    # One shell may stand inside another.
    way.keys["loss"] = 1 - (1 - way.keys.get("loss", 0.0)) * (1 - share)


def _mm_link(words: Words, up: Way, down: Way) -> None:
    if "channel" in up.keys:
        raise BadInput("import: a second `mm-link` has no counterpart")
    _mm_queues(words, up, down)
    traces = words.take("mm-link"), words.take("mm-link")
    for way, trace in zip((up, down), traces, strict=True):
        way.rate_bps = _mean_bps(trace)
        way.keys["channel"] = {"kind": "trace", "file": trace}
    _mm_queues(words, up, down)


def _mean_bps(trace: str) -> float | None:
    """Return the mean rate of a trace: 1500 B a line, over the milliseconds of the last."""
    try:
        times = [int(line) for line in Path(trace).read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return None  # The check of the scenario says what is wrong with the file.
    return len(times) * 1500 * 8e3 / times[-1] if times and times[-1] > 0 else None


def _mm_delay(words: Words, up: Way, down: Way) -> None:
    value = words.take("mm-delay")
    file = words.take("mm-delay") if _names_a_file(words) else None
    for way in (up, down):
        if file is None:
            way.delay_s += quantity(value, {"": 1e-3}, "mm-delay", "40")
        else:
            # LeoReplayer: a slot's length, and a file of delays.
            every = ms(quantity(value, {"": 1e-3}, "mm-delay", "10"))
            way.keys["jitter"] = {"kind": "trace", "file": file, "every": every}
            way.notes.append("LeoReplayer reorders where the delay falls; here packets do not")


def _names_a_file(words: Words) -> bool:
    """Return True if the next word is LeoReplayer's file, and not a program that runs inside."""
    word, *rest = [*words.words[words.at :], ""]
    if not word or word.startswith(("mm-", "-")) or is_number(word):
        return False
    return rest[0].startswith("mm-") or "." in Path(word).name or Path(word).is_file()


def _mm_queues(words: Words, up: Way, down: Way) -> None:
    kinds = {kind: kind for kind in ("droptail", "codel", "pie")}
    kinds |= dict.fromkeys(("infinite", "drophead"), "droptail")
    while words.peek().startswith("--"):
        option, _, value = words.take("mm-link").partition("=")
        way = up if option.startswith("--uplink") else down
        if option.endswith("-queue"):
            if value not in kinds:
                raise BadInput(f"import: queue `{value}` has no counterpart{nearest(value, kinds)}")
            way.keys["queue"] = {"kind": kinds[value]}
            if value == "drophead":
                way.keys["queue"]["drop"] = "head"
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
        elif option != "--meter-all" and "-log" not in option:
            way.notes.append(f"`{option}`")


def _outages(shell: str) -> Callable[[Words, Way, Way], None]:
    """Return a reader of a shell whose link is on and off by turns."""

    def read(words: Words, up: Way, _: Way) -> None:
        direction = "forward" if _direction(words, shell) == "uplink" else "reverse"
        on, off = (quantity(words.take(shell), {"": 1.0}, shell, "5") for _ in range(2))
        if not (on > 0 and off > 0):
            raise BadInput(f"import: {shell}: found `{on:g} {off:g}`, expected times above 0")
        if "outage" in up.keys:
            up.notes.append(f"a second outage, `{shell}` of {on:g} s and {off:g} s")
            return
        outage = {"on": f"{on:.9g} s", "off": f"{off:.9g} s", "direction": direction}
        up.keys["outage"] = {**outage, **({} if shell == "mm-onoff" else {"periodic": True})}

    return read


_SHELLS: Mapping[str, Callable[[Words, Way, Way], None]] = {
    "mm-delay": _mm_delay,
    "mm-loss": _mm_loss,
    "mm-link": _mm_link,
    "mm-onoff": _outages("mm-onoff"),
    "mm-intermittent": _outages("mm-intermittent"),
}
