"""The transport's settings in a scenario: the table ``tcp`` of a flow or a traffic class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ackclock._table import Table, key
from ackclock.quick_start import QuickStart

__all__ = ["Autotune", "DelayedAck", "Tcp"]


@dataclass(frozen=True)
class DelayedAck(Table):
    """The time for which an ACK may wait.

    Attributes
    ----------
    timeout
        An ACK waits at most this long, such as ``"200 ms"``; with `quick`, the shortest wait.
    every
        An ACK goes out at the latest for every this many full segments.
    quick
        True to do as Linux does: the first segments are acknowledged at once, and so are those that
        come while the receive window grows; the wait then follows the sender's rhythm, up to 200
        ms.
    """

    timeout: str
    every: int = 2
    quick: bool = False


def read_delayed_ack(value: Any) -> Literal["off"] | DelayedAck:
    return "off" if value == "off" else DelayedAck.from_table(value)


@dataclass(frozen=True)
class Autotune(Table):
    """The growth of the receive buffer with what is read, as Linux has it.

    Attributes
    ----------
    initial
        The buffer at first, as memory of which payload takes about five eighths, such as
        ``"128 KiB"``.
    most
        The largest buffer, such as ``"32 MiB"``.
    """

    initial: str
    most: str


def read_autotune(value: Any) -> Literal["off"] | Autotune:
    return "off" if value == "off" else Autotune.from_table(value)


@dataclass(frozen=True)
class Tcp(Table):
    """Settings of a connection; what is left out comes from the flow's profile.

    Attributes
    ----------
    mss
        Payload bytes of a full segment, such as ``"1460 B"``.
    initial_window
        The first window, in segments.
    min_rto, initial_rto, max_rto
        The smallest retransmission timeout, the one before the first round-trip time is known, and
        the largest, such as ``"1 s"``.
    clock_granularity
        The tick of the retransmission timer's clock, such as ``"10 ms"``.
    delayed_ack
        When an ACK may wait: ``"off"`` or a :class:`DelayedAck`.
    receive_window
        The receive buffer, of a fixed size such as ``"64 kB"``.
    receive_autotune
        The growth of the receive buffer: ``"off"`` or an :class:`Autotune`. Off if `receive_window`
        is given.
    window_scaling
        True to offer window scaling.
    timestamps
        True to offer timestamps, which take 12 bytes of every segment's payload.
    sack
        True to offer SACK.
    loss_reduces
        Which volume a loss reduces.
    pacing
        When segments leave: as soon as the window lets them, at the growth law's pacing rate if it
        has one, or as Linux paces.
    nagle
        When less than a full segment waits: never, while anything is unacknowledged, or while
        another short segment is.
    syn_retries, syn_ack_retries
        The number of times that a SYN or SYN-ACK without an answer is sent again.
    data_retries
        The connection is given up once data was not answered for as long as so many
        retransmissions take from the smallest timeout on.
    lost_syns_forgiven
        Retransmissions of the SYN or SYN-ACK that count as none before the variant's answer to a
        lost SYN; in place of that answer's own number.
    answer_repeated_syn
        True if a SYN that comes again before the SYN-ACK is acknowledged is answered with another
        SYN-ACK at once, rather than by its timer.
    handshake_tick
        The step at which timers of SYN and SYN-ACK expire; ``"32 ms"`` with Linux at 250 Hz.
    three_seconds_after_lost_syn
        True if the timeout is at least 3 s after a lost SYN or SYN-ACK.
    ecn
        Explicit congestion notification: never, if the peer asks for it, or asked for (as `dctcp`
        does).
    ecn_echo
        The way in which the receiver tells of marks: until the sender has reduced its window (RFC
        3168), or exactly (RFC 8257, with `dctcp`).
    abe
        True if a mark costs less than a loss (RFC 8511).
    quick_start
        The part that the ends take in Quick-Start.
    """

    mss: str | None = None
    initial_window: int | None = None
    min_rto: str | None = None
    initial_rto: str | None = None
    max_rto: str | None = None
    clock_granularity: str | None = None
    delayed_ack: Literal["off"] | DelayedAck | None = key(default=None, read=read_delayed_ack)
    receive_window: str | None = None
    receive_autotune: Literal["off"] | Autotune | None = key(default=None, read=read_autotune)
    window_scaling: bool | None = None
    timestamps: bool | None = None
    sack: bool | None = None
    loss_reduces: Literal["flight_size", "cwnd"] | None = None
    pacing: Literal["off", "law", "linux"] | None = None
    nagle: Literal["off", "on", "minshall"] | None = None
    syn_retries: int | None = None
    syn_ack_retries: int | None = None
    data_retries: int | None = None
    lost_syns_forgiven: int | None = None
    answer_repeated_syn: bool | None = None
    handshake_tick: str | None = None
    three_seconds_after_lost_syn: bool | None = None
    ecn: Literal["off", "passive", "on"] | None = None
    ecn_echo: Literal["until_reduced", "exact"] | None = None
    abe: bool | None = None
    quick_start: QuickStart | None = key(default=None, read=QuickStart.from_table)
