"""Programs of their own as the ends of a flow: what a scenario says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ackclock._table import Table, key

__all__ = ["Iperf3", "Program"]


@dataclass(frozen=True)
class Program(Table):
    """Programs on a flow's hosts, in a live run alone; their TCP is the kernel's.

    They are run if that is allowed (``allow_programs=True``), as an ordinary user.

    Commands are lists of words that no shell reads. Words in braces stand for what they say:
    ``{sender}`` and ``{receiver}`` for the hosts' addresses, ``{server}`` and ``{client}`` for the
    same by who listens, ``{port}``, ``{seconds}`` for whole seconds from the flow's start to the
    end of the run less one, ``{folder}`` for where the programs may write, ``{flow}``, and
    ``{congestion_control}`` for the kernel's word for the variant.

    Attributes
    ----------
    sender, receiver
        The commands on the hosts that the flow's data comes from, and goes to.
    server
        The end whose program is the server: it is started first, and the run begins when it
        listens. The other is started at the flow's start.
    port
        The port that ``{port}`` stands for.
    files
        Text files that are written into ``{folder}`` before anything starts, by name; words in
        braces stand for the same in them.
    """

    KIND: ClassVar[str | None] = "program"

    sender: Sequence[str] = key(default=(), read=tuple)
    receiver: Sequence[str] = key(default=(), read=tuple)
    server: Literal["sender", "receiver"] = "receiver"
    port: int = 5201
    files: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        """Freeze the sequences."""
        object.__setattr__(self, "sender", tuple(self.sender))
        object.__setattr__(self, "receiver", tuple(self.receiver))


@dataclass(frozen=True)
class Iperf3(Table):
    """iperf3 on a flow's hosts, in a live run alone: its server receives, its client sends.

    Attributes
    ----------
    options
        Further options of its client, such as ``["-P", "4"]``. Those that do more than shape its
        flow, such as ``--logfile``, have to be allowed as programs are.
    """

    KIND: ClassVar[str | None] = "iperf3"

    options: Sequence[str] = key(default=(), read=tuple)

    def __post_init__(self) -> None:
        """Freeze the sequence."""
        object.__setattr__(self, "options", tuple(self.options))
