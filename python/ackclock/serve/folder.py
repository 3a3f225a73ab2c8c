"""The folder that is served: the files that are found in it, and none outside."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any, BinaryIO

from ackclock.below import Below, OutsideError, shown
from ackclock.errors import BadInput

__all__ = ["Found", "NoFileError", "OutsideError", "Served"]

#: The most entries that are looked at, and how deep.
_MOST_ENTRIES = 20_000
_DEEPEST = 6
#: The largest file that is shown as text.
_MOST_TEXT = 4_000_000
_HEAD_BYTES = 4096
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
#: A table of axes: what a plan has and a scenario has not.
_AXES = re.compile(r"^\s*(\[\s*axes\b|axes\b[^=\n]*=|study\s*=)", re.MULTILINE)


class NoFileError(BadInput):
    """A name of no file of the folder's; its text is one line."""


@dataclass
class Found:
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
            It lies outside, or behind a link.
        """
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

    def found(self) -> Found:
        """Look at the folder, and at those in it."""
        found = Found()
        seen = 0
        for path, folders, files in self._walk():
            seen += len(folders) + len(files)
            if seen > _MOST_ENTRIES:
                found.whole = False
                break
            below = "" if path == self.root else path.relative_to(self.root).as_posix()
            if "plan.json" in files and "plans" in folders:
                found.stores.append(below or ".")
                folders.clear()
                continue
            if "index.html" in files:
                found.reports.append({"path": below or ".", **_about_report(path)})
            for name in files:
                full = f"{below}/{name}" if below else name
                if name.endswith(".pcapng"):
                    found.captures.append({"path": full, "bytes": _bytes(path / name)})
                elif name.endswith(".toml"):
                    (found.plans if _is_plan(path / name) else found.scenarios).append(full)
        found.reports.sort(key=lambda row: -row["changed"])
        return found

    def _walk(self) -> Iterator[tuple[Path, list[str], list[str]]]:
        """Yield each folder with the names in it, without hidden ones, links, devices and pipes."""
        for at, folders, files in os.walk(self.root):
            path = Path(at)
            depth = len(path.relative_to(self.root).parts)
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if depth >= _DEEPEST:
                folders.clear()
            plain = [name for name in sorted(files) if not name.startswith(".")]
            yield path, folders, [name for name in plain if _is_regular(path / name)]


def _is_regular(path: Path) -> bool:
    """Return True for a file that can be read to its end: a pipe would be waited for."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _bytes(path: Path) -> int:
    """Return the size of a file; none of one that has gone meanwhile."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _about_report(path: Path) -> dict[str, Any]:
    """Return a report's title, its first figure, by its path in the report, and its time."""
    page = path / "index.html"
    try:
        with page.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode(errors="replace")
        changed = page.stat().st_mtime
    except OSError:
        head, changed = "", 0.0
    title = _TITLE.search(head)
    figures = sorted(path.glob("figures/*.png"))
    return {
        "title": unescape(" ".join(title[1].split())) if title else "",
        "picture": figures[0].relative_to(path).as_posix() if figures else None,
        "changed": changed,
    }


def _is_plan(path: Path) -> bool:
    """Return True for a plan of a sweep; a file that cannot be read is none."""
    try:
        if path.stat().st_size > _MOST_TEXT:
            return False
        return _AXES.search(path.read_text(encoding="utf-8")) is not None
    except (OSError, UnicodeDecodeError):
        return False
