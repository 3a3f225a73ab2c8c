"""The one way in which the package writes files: the core's writer, with its messages as bad input.

A :class:`Folder` is tried before work begins, is one run's as long as it is open, and is cleared
of what killed runs left; its files get their names together. ``scripts/check_writes.py`` says that
nothing else in the package writes.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from ackclock import _core
from ackclock.base.errors import BadInput

__all__ = ["Folder", "copy_file", "is_there", "plain", "try_file", "write_file"]


@contextmanager
def _told() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(str(error)) from None


class Folder:
    """A folder that a run writes into, made if it is not there.

    Parameters
    ----------
    path
        The path of the folder.
    names
        Files that are to be written, to be tried.
    tables
        True for the folder of a run's tables.

    Raises
    ------
    BadInput
        It cannot be made or written to, the disk is full, or another run writes into it.
    """

    def __init__(self, path: str | os.PathLike[str], *names: str, tables: bool = False) -> None:
        with _told():
            self._place = _core.Place(os.fspath(path))
        try:
            with _told():
                self._place.expect(list(names), tables)
        except BadInput:
            self._place.close()
            raise

    def __enter__(self) -> Self:
        """Return the folder, which is closed in the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let others have the folder."""
        self._place.close()

    def stage(self, name: str, content: str | bytes) -> None:
        """Write a file that gets its name, which may lie in folders below, by :meth:`commit`."""
        data = content.encode() if isinstance(content, str) else content
        with _told():
            self._place.stage(name, data)

    def commit(self, *gone: str) -> None:
        """Give what was staged its names, together; files called ``gone`` go."""
        with _told():
            self._place.commit(list(gone))


def write_file(
    path: str | os.PathLike[str], content: str | bytes, *, make_folder: bool = False
) -> None:
    """Write a file by itself, whole or not at all; its folder has to be there, unless it is made.

    Raises
    ------
    BadInput
        It cannot be written.
    """
    if make_folder:
        _make_folder(Path(path).parent)
    with _told():
        _core.write_file(os.fspath(path), content.encode() if isinstance(content, str) else content)


def copy_file(
    source: str | os.PathLike[str], path: str | os.PathLike[str], *, make_folder: bool = False
) -> None:
    """Do the same with what another file holds."""
    if make_folder:
        _make_folder(Path(path).parent)
    with _told():
        _core.copy_file(os.fspath(source), os.fspath(path))


def is_there(path: Path) -> bool:
    """Return True if something has this name; False also of a name that can be none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def try_file(path: str | os.PathLike[str]) -> None:
    """Raise ``BadInput`` if a file cannot be written, before work begins."""
    with _told():
        _core.try_file(os.fspath(path))


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


def plain(text: object) -> str:
    """Return a text on one line whose every character is shown, others as their escapes.

    What files and programs say may hold what moves a terminal's cursor or turns a line around.
    """
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(text))
