"""Congestion control of your own: laws in Python, and in shared libraries.

A law is a class with a method for each event that it wants to hear of::

    class Half(ac.Growth):
        def on_ack(self, ack):
            if ack.in_slow_start:
                self.cwnd_bytes += ack.slow_start_increase_bytes
            else:
                self.cwnd_bytes += ack.newly_acked_bytes * ack.mss_bytes / self.cwnd_bytes

        def on_congestion(self, congestion):
            self.ssthresh_bytes = max(congestion.reduce_from_bytes / 2, 2 * congestion.mss_bytes)
            timeout = congestion.signal == "timeout"
            self.cwnd_bytes = congestion.mss_bytes if timeout else self.ssthresh_bytes


    ac.register_law("half", Half)
    run = ac.simulate(ac.Scenario(ac.path("10 Mbit/s", "40 ms"), [ac.Flow("half+rack")]))

Times are seconds since the run began, volumes bytes of payload, rates bits per second; names say
so.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.shown import shortened
from ackclock.runs import identity

if TYPE_CHECKING:
    from ackclock._core import (
        Ack,
        Congestion,
        Delivery,
        LostData,
        Proposal,
        RecoveryEnd,
        RttSample,
        SendStart,
        Start,
    )

__all__ = ["Growth", "get_include", "law_structs", "load_law", "register_law"]

#: The names of laws' files as modules begin with it.
_MODULE = "_ackclock_law_"
#: The characters that are told of what a law says.
_MOST_SAID = 500


class Growth:
    """A growth law: it owns the congestion window and the slow-start threshold.

    An object is made for each connection, without arguments. The engine calls its methods and
    reads its attributes after each call, so that a law sets them and returns nothing.
    `on_congestion` is its own, and so is `on_ack`, or `on_delivery` in a law that models the path;
    the others are there if it wants them.

    An object that is handed over is the same one the next time, with other numbers: a law that
    wants to remember something copies the number.

    Attributes
    ----------
    cwnd_bytes
        The congestion window: at least a segment, from the handshake on. Fractions of a byte are
        the law's own; the sender uses whole bytes.
    ssthresh_bytes
        The slow-start threshold; None while nothing has set it. Slow start lasts while the window
        is below it.
    pacing_rate_bps
        The rate of payload at which segments leave; None if the law does not pace. A law paces
        always or never.
    mss_bytes
        Payload of a full segment; set before the first event.
    models_path
        True if the law models the path, as BBR does: `on_delivery` and `on_lost` are called for
        it, and it owns the window during a repair, too.
    """

    models_path: ClassVar[bool] = False

    cwnd_bytes: float = 0
    ssthresh_bytes: float | None = None
    pacing_rate_bps: float | None = None
    mss_bytes: int = 0

    def on_established(self, start: Start) -> None:
        """Begin: the handshake is done, and the first window is set."""

    def on_ack(self, ack: Ack) -> None:
        """Grow: an ACK came on which the window may.

        The ACKs of a repair are not among them. In slow start the slow-start law offers
        ``ack.slow_start_increase_bytes``; slow start ends with this ACK if
        ``ack.slow_start_ends``. An ACK that only SACKs has ``newly_acked_bytes`` 0.
        """
        raise NotImplementedError(f"{type(self).__name__}.on_ack")

    def on_congestion(self, congestion: Congestion) -> None:
        """Reduce: once for the losses of an episode, for a mark, and for each timeout.

        ``congestion.signal`` is ``loss``, ``ecn``, ``ecn_abe`` (a mark is to cost less, RFC 8511)
        or ``timeout``, of which ``consecutive_timeouts`` counts those in a row, from 1.
        ``reduce_from_bytes`` is the volume that the reduction starts from (RFC 5681's FlightSize).
        """
        raise NotImplementedError(f"{type(self).__name__}.on_congestion")

    def on_recovery_end(self, end: RecoveryEnd) -> None:
        """Go on: all that was lost is repaired. The window becomes at most ``at_most_bytes``."""
        if end.at_most_bytes is not None:
            self.cwnd_bytes = min(self.cwnd_bytes, end.at_most_bytes)

    def on_spurious(self) -> None:
        """Take back the last reduction, if the law wants to: what seemed lost was only late."""

    def rebase(self, proposal: Proposal) -> None:
        """Take the window that another rule proposes, or leave it.

        ``proposal.why`` is ``established`` (the first window), ``idle`` (after silence) or ``jump``
        (past slow start, as by Quick-Start).
        """
        if proposal.cwnd_bytes is not None:
            self.cwnd_bytes = proposal.cwnd_bytes
        if proposal.ssthresh_bytes is not None:
            self.ssthresh_bytes = proposal.ssthresh_bytes

    def on_rtt(self, sample: RttSample) -> None:
        """Note a round-trip time, which any ACK may have measured, before `on_ack` of the same."""

    def on_send_start(self, start: SendStart) -> None:
        """Note that data is about to go out while nothing is outstanding.

        Of a law that models the path: while nothing else is in flight. ``start.app_limited`` says
        that the application had nothing to send.
        """

    def on_delivery(self, delivery: Delivery) -> None:
        """Note an ACK, new or duplicate, with its delivery rate; after the other events of it.

        Of a law that models the path. The rate is that of draft-ietf-ccwg-bbr section 4.1.2:
        ``sample_delivered_bytes`` in ``sample_interval_s``.
        """

    def on_lost(self, lost: LostData) -> None:
        """Note that a segment was found lost. Of a law that models the path."""


def register_law(name: str, law: type[Growth] | Callable[[], Growth]) -> None:
    """Give a law in Python a name.

    ``variant = "NAME"`` means it from then on, with parts as any law (``"mine+rack"``), for as
    long as this process runs: in simulations, sweeps, comparisons, scripts of `drill`, and live
    runs with ``endpoint = "ackclock"``. A name that was registered before means the new law; what
    has been read keeps the old one. An exception of the law ends the run, with a note that says
    where.

    Parameters
    ----------
    name
        The name: lower-case letters and digits, a letter first, and no word of the package's own.
    law
        The class, or whatever makes a law of a new connection.

    Raises
    ------
    BadInput
        The name cannot be used, or the class lacks a method that every law has.
    """
    if not callable(law):
        raise BadInput(f"law `{name}`: found {law!r}, expected a class that is an ackclock.Growth")
    if inspect.isclass(law):
        _check(name, law)
    _core.register_law(name, law, Growth)
    identity.note_law(name, identity.decided_by_python(law))


def _check(name: str, law: type) -> None:
    """Raise BadInput if a class cannot be a law."""
    if not issubclass(law, Growth):
        expected = f"expected a class that is an ackclock.Growth: class {law.__name__}(ac.Growth)"
        raise BadInput(f"law `{name}`: {law.__name__} is none; {expected}")
    needed = {"on_congestion": law.on_congestion is not Growth.on_congestion}
    if law.models_path:
        needed["on_delivery"] = law.on_delivery is not Growth.on_delivery
    else:
        needed["on_ack"] = law.on_ack is not Growth.on_ack
    for method, there in needed.items():
        if not there:
            raise BadInput(f"law `{name}`: {law.__name__} has no `{method}`, which it needs")


def get_include() -> str:
    """Return the folder of ``ackclock_law.h``, for the compiler of a law in C."""
    return str(Path(__file__).parent / "include")


def law_structs() -> dict[str, list[tuple[str, str]]]:
    """Return the structs of ``ackclock_law.h``: fields, with numpy's words for their types.

    ``numpy.dtype(fields, align=True)`` is the struct. A callback of the table is an address
    (``u8``). With them a law can be compiled in this process, as by numba, and loaded by its
    address.
    """
    words = {"uint64_t": "u8", "uint32_t": "u4", "uint8_t": "u1"}
    header = (Path(get_include()) / "ackclock_law.h").read_text(encoding="utf-8")
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    structs: dict[str, list[tuple[str, str]]] = {}
    for body, name in re.findall(r"typedef struct \{(.*?)\}\s*(\w+);", header, re.DOTALL):
        fields = structs[name] = []
        for line in filter(None, map(str.strip, body.split(";"))):
            callback = re.search(r"\(\*(\w+)\)", line)
            if callback:
                fields.append((callback[1], "u8"))
            else:
                kind, names = line.split(None, 1)
                fields += [(field.strip(), words[kind]) for field in names.split(",")]
    return structs


def load_law(name: str, source: str | os.PathLike[str] | int) -> None:
    """Load a law of your own from a file, and give it a name as `register_law` does.

    The code of the file runs in this process, with all that the process may do.

    Parameters
    ----------
    name
        The name.
    source
        A shared library, which exports ``ackclock_law_v1`` (``ackclock_law.h`` in `get_include`); a
        file of Python with one class that is a `Growth`, or ``FILE.py:CLASS``; or the address of a
        table ``ackclock_law`` in this process, which stays for as long as the process runs. A file
        of Python may import modules that lie beside it, while it is loaded; what is installed goes
        before them.

    Raises
    ------
    BadInput
        The file has no such law, or the name cannot be used.
    """
    if isinstance(source, int):
        _core.load_law_at(name, source)
        identity.note_law(name, None)
        return
    path = os.fspath(source)
    file, colon, chosen = path.partition(".py:")
    if colon or path.endswith(".py"):
        source = Path(f"{file}.py" if colon else path)
        with _beside(source):
            with identity.listening() as opened:
                law = _from_python(name, source, chosen)
            register_law(name, law)
            identity.note_law(name, identity.decided_by_python(law, opened))
        return
    try:
        _core.load_law(name, path)
    except BadInput as error:
        if "dlopen" in str(error) and ".so" not in Path(path).name and Path(path).is_file():
            raise BadInput(
                f"law `{name}`: {path}: found no law, expected a shared library (.so) or a file of "
                "Python (.py)"
            ) from None
        raise
    identity.note_law(name, identity.decided_by_library(Path(path)))


@contextmanager
def _beside(source: Path) -> Generator[None]:
    """Let modules beside a law be imported meanwhile, behind those that are installed.

    They leave with it, so that a law that is loaded next has those beside itself, as they are then.
    """
    folder = source.absolute().parent
    if str(folder) in map(os.path.abspath, sys.path):
        yield
        return
    before = set(sys.modules)
    sys.path.append(str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        new = {module for module in sys.modules.keys() - before if not module.startswith(_MODULE)}
        # A package is asked where it lies before it leaves, and its modules leave with it.
        beside = {module for module in new if _lies_in(folder, module.partition(".")[0])}
        sys.path.remove(str(folder))
        for module in beside:
            del sys.modules[module]


def _lies_in(folder: Path, module: str) -> bool:
    """Return True if a module that is loaded, or a package, lies in a folder."""
    found = sys.modules.get(module)
    places = list(getattr(found, "__path__", ())) or [getattr(found, "__file__", None)]
    return any(place and Path(place).parent == folder for place in places)


def _from_python(name: str, path: Path, chosen: str) -> type[Growth]:
    """Return the law of a file of Python."""
    if not path.is_file():
        raise BadInput(f"law `{name}`: {path}: there is no such file")
    module_name = f"{_MODULE}{name}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise BadInput(f"law `{name}`: {path}: Python cannot load it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit, GeneratorExit) as error:
        line = getattr(error, "lineno", None) or _line_in(error, path)
        where = path if line is None else f"{path}:{line}"
        says = shortened(f"{type(error).__name__}: {error}", _MOST_SAID)
        raise BadInput(f"law `{name}`: {where}: {says}") from error
    classes = {
        word: value
        for word, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Growth) and value.__module__ == module_name
    }
    if chosen:
        if chosen not in classes:
            has = ", ".join(classes) or "none"
            raise BadInput(
                f"law `{name}`: {path}: no class `{chosen}` that is a Growth; it has {has}"
            )
        return classes[chosen]
    if len(classes) != 1:
        found = f"{len(classes)} classes that are a Growth"
        which = f"; say which: {path}:{next(iter(classes))}" if classes else ", expected one"
        raise BadInput(f"law `{name}`: {path}: {found}{which}")
    return next(iter(classes.values()))


def _line_in(error: BaseException, path: Path) -> int | None:
    """Return the line of a file in which an error arose."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename) == path.absolute()
    ]
    return lines[-1] if lines else None
