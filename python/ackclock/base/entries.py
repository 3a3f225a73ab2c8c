"""Studies and suites of installed packages, by the entry points that the packages declare.

An entry is a name and ``module:attribute``. Nothing of a package is imported before it is asked
for, and a package that is broken breaks its own names alone.
"""

from __future__ import annotations

import traceback
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ackclock.base.errors import BadInput, MissingPackageError
from ackclock.base.nearest import nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["OURS", "Entries", "Keyed", "loaded", "package_at_fault"]

OURS = "ackclock-studies"
"""The distribution of this project's own studies and suites, which the extra ``studies`` brings."""


class Keyed(Protocol):
    """A value that knows the name under which it is asked for."""

    @property
    def key(self) -> str:
        """The name."""
        ...


T = TypeVar("T", bound=Keyed)


class Entries(Generic[T]):
    """The entries of a group.

    Parameters
    ----------
    group
        The group, such as ``ackclock.studies``.
    noun
        The word for one of them in refusals.
    kind
        The class that each has to be of.
    """

    def __init__(self, group: str, noun: str, kind: type[T]) -> None:
        self.group = group
        self.noun = noun
        self._kind = kind

    def names(self) -> tuple[str, ...]:
        """Return the names of all that are installed, in their order, each once."""
        return tuple(sorted({entry.name for entry in self._found()}))

    def file(self, name: str) -> Path:
        """Return the file of the module that has the value of a name."""
        module = self._entry(name, self._found()).value.partition(":")[0].strip()
        spec = find_spec(module)
        if spec is None or spec.origin is None:
            raise BadInput(f"{self.noun}: `{name}`: there is no module `{module}`")
        return Path(spec.origin)

    def get(self, name: str) -> T:
        """Return the value of a name.

        Raises
        ------
        BadInput
            There is none, or two packages have it, or it cannot be imported or is something else.
        MissingPackageError
            It imports a package that is not installed, of which Ackclock knows the extra.
        """
        return self._load(self._entry(name, self._found()))

    def all(self) -> tuple[list[T], list[str]]:
        """Return the values of all names, and a line on each that cannot be had.

        Raises
        ------
        MissingPackageError
            No package brings any.
        """
        found = self._found()
        if not found:
            raise MissingPackageError(f"no {self.noun} is installed: {_INSTALL}", name=OURS)
        values: list[T] = []
        faults: list[str] = []
        for name in sorted({entry.name for entry in found}):
            try:
                values.append(self._load(self._entry(name, found)))
            except (BadInput, MissingPackageError) as error:
                faults.append(str(error))
        return values, faults

    def _found(self) -> list[EntryPoint]:
        from importlib.metadata import entry_points  # noqa: PLC0415 - 20 ms

        return list(entry_points(group=self.group))

    def _entry(self, name: str, found: list[EntryPoint]) -> EntryPoint:
        mine = [entry for entry in found if entry.name == name]
        if len(mine) == 1:
            return mine[0]
        if mine:
            packages = ", ".join(sorted({_package(entry) for entry in mine}))
            raise BadInput(
                f"{self.noun}: `{name}` is declared more than once, by {packages}: uninstall all "
                "but one"
            )
        names = sorted({entry.name for entry in found})
        if OURS in map(_package, found):
            raise BadInput(f"{self.noun}: `{name}` is none{nearest(name, names)}")
        told = f"{nearest(name, names)}; Ackclock's own" if names else ""
        raise MissingPackageError(
            f"{self.noun}: `{name}` is not installed{told}: {_INSTALL}", name=OURS
        )

    def _load(self, entry: EntryPoint) -> T:
        where = f"{self.noun}: `{entry.name}` of {_package(entry)}"
        value = loaded(where, entry.value)
        if not isinstance(value, self._kind):
            kind = f"{self._kind.__module__}.{self._kind.__name__}"
            raise BadInput(f"{where}: `{entry.value}` is no {kind}, but `{type(value).__name__}`")
        if value.key != entry.name:
            raise BadInput(f"{where}: its key is `{value.key}`, expected the name of its entry")
        return value


def loaded(where: str, value: str) -> Any:
    """Return the value that ``module:attribute`` names in a package of others.

    Raises
    ------
    BadInput
        It cannot be imported; the line begins with ``where``.
    MissingPackageError
        It imports a package that is not installed, of which Ackclock knows the extra.
    """
    module, _, attribute = value.partition(":")
    try:
        return reduce(getattr, attribute.strip().split("."), import_module(module.strip()))
    except MissingPackageError:
        raise
    # A package of others may do anything as it is imported, and end the process.
    except (Exception, SystemExit) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadInput(f"{where}: `{value}` cannot be imported: {said}") from error


def package_at_fault(error: BaseException) -> str | None:
    """Return the package of others whose study or suite raised an error; None if it is ours.

    The innermost function decides that is of Ackclock's, or of a package that declares an entry.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - 20 ms

    owners: dict[str, str] = {}
    for group in ("ackclock.studies", "ackclock.suites"):
        for entry in entry_points(group=group):
            owners[entry.value.partition(":")[0].partition(".")[0].strip()] = _package(entry)
    ours = {"ackclock", *(package for package, owner in owners.items() if owner == OURS)}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in ours:
            return None
        if package in owners:
            return owners[package]
    return None


_INSTALL = "pip install 'ackclock[studies]'"


def _package(entry: EntryPoint) -> str:
    return "a package without a name" if entry.dist is None else entry.dist.name
