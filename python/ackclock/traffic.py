"""The parts of a traffic class: when connections open, what they do, what each has to itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from ackclock._table import Table as _Table, key as _key
from ackclock.distributions import Draw, NumberDraw, read_draw

__all__ = [
    "Access",
    "AccessLine",
    "Arrivals",
    "At",
    "Browser",
    "Feedback",
    "PackMime",
    "PackMimeArrivals",
    "Periodic",
    "Poisson",
    "Request",
    "Sessions",
    "Share",
    "Upload",
    "Utilisation",
    "VariantChoice",
    "read_arrivals",
    "read_sessions",
    "read_utilisation",
    "read_variant",
]


@dataclass(frozen=True)
class Poisson(_Table):
    """Connections that open as a Poisson process.

    Attributes
    ----------
    rate
        The arrivals in a second, such as ``"100 /s"``.
    """

    KIND: ClassVar[str | None] = "poisson"

    rate: str


@dataclass(frozen=True)
class Periodic(_Table):
    """Connections that open at equal intervals.

    Attributes
    ----------
    rate
        The arrivals in a second, such as ``"100 /s"``.
    phase
        The first comes this fraction of an interval after the class begins; drawn when left out.
    """

    KIND: ClassVar[str | None] = "periodic"

    rate: str
    phase: float | None = None


@dataclass(frozen=True)
class At(_Table):
    """Connections that open at given moments.

    Attributes
    ----------
    at
        The moments, such as ``["1 s", "1.5 s"]``.
    """

    KIND: ClassVar[str | None] = "list"

    at: Sequence[str] = _key(always=True)

    def __post_init__(self) -> None:
        """Freeze the sequence."""
        object.__setattr__(self, "at", tuple(self.at))


@dataclass(frozen=True)
class PackMimeArrivals(_Table):
    """Connections that open as PackMime-HTTP has it: Weibull gaps with a long memory.

    Attributes
    ----------
    rate
        The mean arrivals in a second, such as ``"50 /s"``.
    memory
        The memory of the gaps: ``"long"``, all the way back, or ``"ns2"``, a thousand of them.
    """

    KIND: ClassVar[str | None] = "packmime"

    rate: str
    memory: Literal["long", "ns2"] | None = None


Arrivals: TypeAlias = Poisson | Periodic | At | PackMimeArrivals


def read_arrivals(table: Any) -> Arrivals:
    """Return the arrivals of a table that the core has checked."""
    kinds: tuple[type[Arrivals], ...] = (Poisson, Periodic, At, PackMimeArrivals)
    return next(kind for kind in kinds if table["kind"] == kind.KIND).from_table(table)


@dataclass(frozen=True)
class Upload(_Table):
    """The client sends a volume and closes; ``bulk`` in a file.

    Attributes
    ----------
    size
        The volume, such as ``"10 kB"``, or a distribution.
    """

    KIND: ClassVar[str | None] = "bulk"

    size: Draw = _key(read=read_draw)


@dataclass(frozen=True)
class Request(_Table):
    """The client asks and the server answers, once or several times, one after another.

    Attributes
    ----------
    response
        The size of a response, such as ``"10 kB"``, or a distribution.
    request
        The size of a request.
    server_delay
        The time from the last byte of a request, at the server, to the response.
    exchanges
        The number of requests that a connection carries, rounded up.
    gap
        The time from a response to the next request.
    closes
        The end that closes first: the server with its last byte, or the client once it has all.
    quick_start
        The rate that the server asks the routers for with each response, whatever the variant.
    """

    KIND: ClassVar[str | None] = "request"

    response: Draw = _key(read=read_draw)
    request: Draw = _key(default="300 B", read=read_draw)
    server_delay: Draw = _key(default="0 s", read=read_draw)
    exchanges: NumberDraw = _key(default=1.0, read=read_draw)
    gap: Draw = _key(default="0 s", read=read_draw)
    closes: Literal["client", "server"] = "server"
    quick_start: str | None = None


@dataclass(frozen=True)
class PackMime(_Table):
    """Web traffic as PackMime-HTTP has it.

    Sizes, persistence, gaps, the server's delay, and the delays of the private lines at both ends
    are the model's. The server closes.

    Attributes
    ----------
    rate
        The rate of new connections for which the model is taken; default: that of the arrivals.
    http
        The version of HTTP.
    memory
        The memory of the sizes of requests and of the round-trip times: ``"long"``, all the way
        back, or ``"ns2"``, five thousand and a thousand connections.
    """

    KIND: ClassVar[str | None] = "packmime"

    rate: str | None = None
    http: Literal["1.0", "1.1"] = "1.1"
    memory: Literal["long", "ns2"] | None = None


@dataclass(frozen=True)
class Browser(_Table):
    """Users who look at one page after another, with time to think: the model of SURGE.

    The class's arrivals are those of users; a user opens connections as it needs them. A page is a
    base object and the objects embedded in it, which are asked for once the base object has come.
    Each page leaves a row in the table ``pages``.

    Attributes
    ----------
    constants
        The constants that supply what is not said: Barford and Crovella's of 1998, or their
        revision of 1999. Both are quoted, not read in the original.
    http
        A connection an object, connections that persist with one request at a time, or with all
        embedded objects asked for at once.
    connections
        The most connections of a user at a time for embedded objects; default: 4 with ``"1.0"``,
        else 1.
    keep_alive
        The time for which a connection that persists is kept open when a page is complete.
    pages
        The number of pages that a user looks at; default: any number.
    sizes
        Which of SURGE's two laws of sizes objects have, if ``size`` does not say: of a server's
        files, or of what is asked for.
    size
        The size of an object, base or embedded.
    largest
        Larger sizes are drawn again; default: 10 MB for SURGE's, none for those of ``size``.
    embedded
        The number of embedded objects of a page, rounded down.
    think
        The time from a page to the request for the next.
    active_off
        The browser's own time before it asks for an embedded object.
    request
        The size of a request.
    server_delay
        The time from the last byte of a request, at the server, to the response.
    """

    KIND: ClassVar[str | None] = "browser"

    constants: Literal["surge-1998", "surge-1999"] = "surge-1998"
    http: Literal["1.0", "1.1", "1.1+pipelining"] = "1.1"
    connections: int | None = None
    keep_alive: str = "0 s"
    pages: int | None = None
    sizes: Literal["files", "requests"] = "files"
    size: Draw | None = _key(default=None, read=read_draw)
    largest: str | None = None
    embedded: NumberDraw | None = _key(default=None, read=read_draw)
    think: Draw | None = _key(default=None, read=read_draw)
    active_off: Draw | None = _key(default=None, read=read_draw)
    request: Draw = _key(default="300 B", read=read_draw)
    server_delay: Draw = _key(default="0 s", read=read_draw)


Sessions: TypeAlias = Upload | Request | PackMime | Browser


def read_sessions(table: Any) -> Sessions:
    """Return the sessions of a table that the core has checked."""
    kinds: tuple[type[Sessions], ...] = (Upload, Request, PackMime, Browser)
    return next(kind for kind in kinds if table["kind"] == kind.KIND).from_table(table)


@dataclass(frozen=True)
class Share(_Table):
    """A variant of a mix.

    Attributes
    ----------
    variant
        The sender.
    weight
        The frequency, in proportion to the other weights.
    """

    variant: str
    weight: float


@dataclass(frozen=True)
class Feedback(_Table):
    """The server chooses the sender by the share of its recent SYN-ACKs that it had to repeat.

    Attributes
    ----------
    calm, congested
        The sender up to the threshold, and above.
    threshold
        The share.
    memory
        Over how many connections it is taken.
    """

    calm: str
    congested: str
    threshold: float
    memory: float = 100.0


VariantChoice: TypeAlias = str | Sequence[Share] | Feedback


def read_variant(value: Any) -> VariantChoice:
    """Return the choice of variants that stands in a file."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return Feedback.from_table(value)
    return tuple(Share.from_table(each) for each in value)


@dataclass(frozen=True)
class Utilisation(_Table):
    """The share to which a link is to be used.

    Attributes
    ----------
    target
        The share of time in which the link is to send, over the whole run.
    within
        The distance from it at which the search for the rate may end.
    link
        The link, by its name.
    """

    target: float
    within: float = 0.01
    link: str = "bottleneck"


def read_utilisation(value: Any) -> float | Utilisation:
    """Return the utilisation that stands in a file."""
    return Utilisation.from_table(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class AccessLine(_Table):
    """A line of one connection's own, drawn when it opens, the same in both directions.

    No other connection's packets cross it; it has room for any number of them and never reorders.

    Attributes
    ----------
    delay
        The propagation delay, one way.
    rate
        The rate; default: any packet passes in no time.
    loss
        The probability that a packet is lost on it.
    syn_loss
        The probability that a SYN or SYN-ACK is lost on it, besides.
    """

    delay: Draw = _key(default="0 s", read=read_draw)
    rate: Draw | None = _key(default=None, read=read_draw)
    loss: NumberDraw = _key(default=0.0, read=read_draw)
    syn_loss: NumberDraw = _key(default=0.0, read=read_draw)


@dataclass(frozen=True)
class Access(_Table):
    """The private links of every connection of a class at each end.

    Attributes
    ----------
    client, server
        The lines of the two ends.
    """

    client: AccessLine = _key(default=AccessLine(), read=AccessLine.from_table)
    server: AccessLine = _key(default=AccessLine(), read=AccessLine.from_table)
