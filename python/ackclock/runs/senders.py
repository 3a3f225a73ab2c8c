"""Senders of a scenario with their parts: the recovery and the first window that each one has.

Laws come with parts of their own: ``newreno`` under the profile ``rfc`` recovers without SACK and
begins with three segments, ``cubic`` has RACK and begins with ten. Two senders that differ in such
a part without being asked to are no comparison of laws; :func:`difference` says so in one line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock import _core

__all__ = ["Sender", "difference", "notes_on", "senders_of"]

#: The parts that are told, and their names in a sentence.
_PARTS = {"recovery": "recovery", "first_window": "first window"}
#: The parts of today, which the word `modern` stands for.
_TODAY = ("rack", "iw10")
#: The most senders that a sentence names.
_NAMED = 4


@dataclass(frozen=True)
class Sender:
    """The sender of an entry of a scenario.

    Attributes
    ----------
    kind
        ``"flow"``, or ``"traffic"`` for a class of connections.
    name
        The entry's name.
    names
        The names of its flows, with ``count`` spelled out; of a class its own.
    variant
        The canonical name of the sender under its profile.
    written
        The name as the scenario has it.
    profile
        The profile.
    recovery, first_window
        The words of these parts, whoever chose them.
    spelled
        Those of the two that the scenario names itself.
    namesake
        The law that Linux has under the same name, where it is another one, under the profile
        ``linux``: ``law``, the ``source`` of ours, and the word here for the ``kernels``.
    """

    kind: str
    name: str
    names: tuple[str, ...]
    variant: str
    written: str
    profile: str
    recovery: str
    first_window: str
    spelled: tuple[str, ...]
    namesake: dict[str, str] | None = None

    @property
    def text(self) -> str:
        """The variant with its parts, such as ``"cubic (rack, iw10)"``."""
        words = self.variant.split("+")
        parts = [part for part in (self.recovery, self.first_window) if part not in words]
        return f"{self.variant} ({', '.join(parts)})" if parts else self.variant


def senders_of(scenario: str) -> tuple[Sender, ...]:
    """Return the senders of a scenario, given as JSON text: one an entry, of a mix one a variant.

    Raises
    ------
    BadInput
        The first key that cannot be used.
    """
    rows = json.loads(_core.senders(scenario))
    return tuple(
        Sender(**row | {"names": tuple(row["names"]), "spelled": tuple(row["spelled"])})
        for row in rows
    )


def notes_on(senders: Sequence[Sender]) -> list[str]:
    """Return a line for each thing about senders that a reader may take for something else."""
    differ = difference(senders)
    lines = [] if differ is None else [differ]
    others = {each.namesake["law"]: each.namesake for each in senders if each.namesake is not None}
    lines += [
        f"`{law}` is that of {other['source']} under the profile `linux`, too, and not the "
        f"kernel's; write `{other['kernels']}` for the kernel's"
        for law, other in others.items()
    ]
    return lines


def difference(senders: Sequence[Sender]) -> str | None:
    """Return one line if senders differ in recovery or first window without being asked to.

    A difference is asked for if every sender spells the part in which they differ.
    """
    told: list[str] = []
    for part, words in _PARTS.items():
        # In the order of the scenario, each name once with each of its parts.
        values = dict.fromkeys((getattr(sender, part), sender.written) for sender in senders)
        asked = all(part in sender.spelled for sender in senders)
        if len({value for value, _ in values}) > 1 and not asked:
            named = [f"{value} ({written})" for value, written in values]
            beyond = len(named) - _NAMED
            more = [f"{beyond} more"] if beyond > 0 else []
            told.append(f"{words} {', '.join([*named[:_NAMED], *more])}")
    if not told:
        return None
    old = (one for one in senders if (one.recovery, one.first_window) != _TODAY)
    law = next(old, senders[0]).written.split("+")[0]
    return (
        f"the senders differ in more than their laws: {'; '.join(told)}; write `{law}+modern` for "
        "the parts of today, or name the part in each sender"
    )
