"""The folder that is served: the files that are found in it, and none outside."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any, BinaryIO

from ackclock.base.below import Below, OutsideError, shown
from ackclock.base.errors import BadInput

__all__ = ["FolderContents", "NoFileError", "OutsideError", "Served"]

#: The most entries that are looked at, and how deep.
_MOST_ENTRIES = 20_000
_DEEPEST = 6
#: The largest file that is shown as text.
_MOST_TEXT = 4_000_000
#: The bytes of files that are read to tell plans from scenarios, at a look.
_MOST_READ = 64_000_000
_HEAD_BYTES = 4096
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
#: A table of axes: what a plan has and a scenario has not.
#: No part of it passes the end of a line: `\s` would go through all blank lines from each of them.
_AXES = re.compile(rb"^[ \t]*(?:\[[ \t]*axes\b|axes\b[^=\n]*=|study[ \t]*=)", re.MULTILINE)


class NoFileError(BadInput):
    """A name of no file of the folder's; its text is one line."""


@dataclass
class FolderContents:
    """The files of a folder by what they are, each by its path below the folder.

    Attributes
    ----------
    scenarios
        Scenarios.
    plans
        Plans of sweeps: files with axes.
    stores
        Stores of sweeps.
    reports
        Folders with a page: its path, title, first figure (or None), and when it changed.
    captures
        Captures of packets.
    whole
        False if there is more than was looked at.
    """

    scenarios: list[str] = field(default_factory=list[str])
    plans: list[str] = field(default_factory=list[str])
    stores: list[str] = field(default_factory=list[str])
    reports: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    captures: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    whole: bool = True


class Served:
    """The folder that is served.

    Parameters
    ----------
    path
        Its path.
    """

    def __init__(self, path: Path) -> None:
        self.root = path.resolve(strict=True)
        self._below = Below(self.root)

    def path(self, name: str) -> Path:
        """Return the path of a store, which may not be there yet.

        Raises
        ------
        OutsideError
            It lies outside, or behind a link; or its name is no text.
        """
        if not _is_text(name):
            raise OutsideError("a name that is no text")
        return self._below.path(name)

    def folder(self, name: str) -> Path:
        """Return the path of a folder.

        Raises
        ------
        OutsideError, NoFileError
            It lies outside, or behind a link; or there is none.
        """
        if not self._below.is_folder(name):
            raise NoFileError(f"`{shown(name)}`: no such file or folder")
        return self.root / name

    def opened(self, name: str) -> BinaryIO:
        """Return a file, opened to be read.

        Raises
        ------
        OutsideError, NoFileError
            It lies outside, or behind a link; or there is none.
        """
        try:
            return self._below.opened(name)
        except FileNotFoundError:
            raise NoFileError(f"`{shown(name)}`: no such file") from None

    def read(self, name: str, most: int) -> bytes:
        """Return what a file of at most so many bytes holds.

        Raises
        ------
        OutsideError, NoFileError, BadInput
            As :meth:`opened`; or it is larger.
        """
        try:
            return self._below.read(name, most)
        except FileNotFoundError:
            raise NoFileError(f"`{shown(name)}`: no such file") from None

    def text(self, name: str) -> str:
        """Return the text of a file.

        Raises
        ------
        OutsideError, NoFileError, BadInput
            As :meth:`read`; or it is no text.
        """
        try:
            return self.read(name, _MOST_TEXT).decode()
        except UnicodeDecodeError:
            raise BadInput(f"`{shown(name)}` cannot be read as text") from None

    def found(self) -> FolderContents:
        """Look at the folder, and at those in it."""
        found = FolderContents()
        seen, read = 0, 0
        for below, folders, files in self._walk():
            seen += len(folders) + len(files)
            if seen > _MOST_ENTRIES:
                found.whole = False
                break
            if "plan.json" in files and "plans" in folders:
                found.stores.append(below or ".")
                folders.clear()
                continue
            inside = f"{below}/" if below else ""
            if "index.html" in files:
                found.reports.append({"path": below or ".", **self._about_report(inside)})
            for name, size in files.items():
                if name.endswith(".pcapng"):
                    found.captures.append({"path": f"{inside}{name}", "bytes": size})
                elif name.endswith(".toml"):
                    read += min(size, _MOST_TEXT)
                    found.whole = found.whole and read <= _MOST_READ
                    is_plan = read <= _MOST_READ and self._is_plan(f"{inside}{name}")
                    (found.plans if is_plan else found.scenarios).append(f"{inside}{name}")
        found.reports.sort(key=lambda row: -row["changed"])
        return found

    def _walk(self) -> Iterator[tuple[str, list[str], dict[str, int]]]:
        """Yield each folder with the folders in it, and the files with their sizes.

        Hidden ones, links, devices and pipes are none of them: a pipe would be waited for.
        """
        for at, folders, files in os.walk(self.root):
            path = Path(at)
            depth = len(path.relative_to(self.root).parts)
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if depth >= _DEEPEST:
                folders.clear()
            # A name that is no text cannot be told to a page.
            folders[:] = [name for name in folders if _is_text(name)]
            plain = [name for name in sorted(files) if not name.startswith(".") and _is_text(name)]
            sizes = {name: _size(path / name) for name in plain}
            below = "" if path == self.root else path.relative_to(self.root).as_posix()
            yield below, folders, {name: size for name, size in sizes.items() if size is not None}

    def _about_report(self, inside: str) -> dict[str, Any]:
        """Return a report's title, its first figure, by its path in the report, and its time."""
        head, changed, names = "", 0.0, list[str]()
        with suppress(BadInput, FileNotFoundError, OSError):
            with self._below.opened(f"{inside}index.html") as page:
                head = page.read(_HEAD_BYTES).decode(errors="replace")
                changed = os.fstat(page.fileno()).st_mtime
            names = self._below.names(f"{inside}figures")
        title = _TITLE.search(head)
        figures = [name for name in names if name.endswith(".png")]
        return {
            "title": unescape(" ".join(title[1].split())) if title else "",
            "picture": f"figures/{figures[0]}" if figures else None,
            "changed": changed,
        }

    def _is_plan(self, name: str) -> bool:
        """Return True for a plan of a sweep; a file that cannot be read is none."""
        try:
            return _AXES.search(self._below.read(name, _MOST_TEXT)) is not None
        except (BadInput, OSError):
            return False


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _size(path: Path) -> int | None:
    """Return the size of a file that can be read to its end; None of anything else."""
    try:
        about = path.lstat()
    except OSError:
        return None
    return about.st_size if stat.S_ISREG(about.st_mode) else None
