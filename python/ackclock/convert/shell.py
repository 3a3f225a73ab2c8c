"""Commands of ``tc`` in the text of a shell, and in what ``tc qdisc show`` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ackclock.base.errors import BadInput
from ackclock.convert.words import Words

__all__ = ["as_command", "commands"]

#: The verbs of commands.
_TC_VERBS = ("add", "replace", "change", "del", "delete", "show", "list", "ls")
#: A variable of a shell that is set, and one that is used, perhaps with a value of its own.
_SET = re.compile(
    r"(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s\"']*)"
)
_USED = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^}]*))?\})")


#: Lines below one of `tc -s qdisc show`.
_STATISTICS = re.compile(
    r"\s+(Sent|backlog|rate|maxpacket|new_flows?_\w+|lended|tokens|prob|pkts_in)\b"
)


def commands(lines: Sequence[str]) -> Iterator[str]:
    """Yield one command after another, with the values of the variables that the lines set."""
    values: dict[str, str] = {}

    def value(used: re.Match[str]) -> str:
        name = used[1] or used[2]
        if name not in values and used[3] is None:
            raise BadInput(
                f"import: `{used[0]}` is a variable of the shell, expected its value, or a line "
                f"before that sets it, as `{name}=50`"
            )
        return values.get(name, used[3] or "")

    for line in lines:
        for part in line.replace("&&", "\n").replace(";", "\n").splitlines():
            if _STATISTICS.match(part):
                continue
            command = _USED.sub(value, part)
            if "$" in command.split("#")[0]:
                raise BadInput(f"import: `{command.strip()}`: a shell computes it; expected values")
            if found := _SET.fullmatch(command.strip()):
                values[found[1]] = found[2].strip("\"'")
            else:
                yield command


#: Disciplines of a device that only hand packets on, or hold none.
_NONE = ("noqueue", "mq", "ingress", "clsact")
#: Words that `tc qdisc show` prints of the state of a discipline, each with a value.
_STATE = ("refcnt", "direct_packets_stat", "direct_qlen", "leaf")
#: Words before values that tc takes without a word.
_LABELS = (
    *("packetoverhead", "cellsize", "celloverhead"),
    *("p", "r", "1-h", "1-k", "p13", "p31", "p32", "p23", "p14"),
)


def as_command(words: Words) -> bool:
    """Turn a line of `tc qdisc show` or `tc class show` into the command that makes it.

    It returns False for a line of something that holds no packets, or that does not say how.
    """
    of, kind, handle, *rest = [*words.words[words.at :], "", "", ""]
    if of not in ("qdisc", "class") or ":" not in handle or kind in _TC_VERBS:
        return True
    if kind in _NONE or (of == "class" and kind not in ("htb", "drr")):
        return False
    place: list[str] = []
    while rest and rest[0] in ("dev", "parent", "root"):
        taken = 1 if rest[0] == "root" else 2
        place, rest = place + rest[:taken], rest[taken:]
    told: list[str] = []
    shown = iter(word for word in rest if word)
    for word in shown:
        if word in _STATE or (of == "class" and word in ("prio", "burst", "cburst")):
            next(shown, "")
        elif word not in _LABELS and word != "offloaded":
            # A number of packets, and of seconds.
            told.append(re.sub(r"^(\d+)(p|sec)$", r"\1", word))
    # The bands of `pfifo_fast` cannot be changed.
    told = [] if kind == "pfifo_fast" else told
    words.words, words.at, words.are_shown = [of, "add", *place, kind, *told], 0, True
    return True
