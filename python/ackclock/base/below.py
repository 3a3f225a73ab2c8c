"""The one way to what a request, a plan or a store names: below a folder, and through no link.

Whoever names a file may have made the folders on the way to it. A path is therefore opened part by
part, each from the descriptor of the one before, so that what was checked is what is read
(decision 48).
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ackclock.base.errors import BadInput

__all__ = ["Below", "OutsideError"]

#: A pipe is not waited for, and a terminal does not become this process's own.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
#: The longest name of a file that Linux opens, PATH_MAX.
_LONGEST = 4096


class OutsideError(BadInput):
    """A name that leads out of its folder, or through a link; its text is one line."""


class Below:
    """A folder, and what lies below it.

    Parameters
    ----------
    folder
        The folder, which is the user's own word: links on the way to it are followed.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def opened(self, name: str | os.PathLike[str]) -> BinaryIO:
        """Return a file of bytes, opened to be read.

        Raises
        ------
        FileNotFoundError
            There is none.
        OutsideError
            The name leads outside, or through a link.
        BadInput
            It is no file of bytes, or cannot be read.
        """
        found = self._descriptor(name)
        if not stat.S_ISREG(os.fstat(found).st_mode):
            os.close(found)
            raise BadInput(f"`{shown(name)}` is no plain file")
        return os.fdopen(found, "rb")

    def read(self, name: str | os.PathLike[str], most: int | None = None) -> bytes:
        """Return what a file holds; one of more than ``most`` bytes is refused before it is read.

        Raises
        ------
        FileNotFoundError, OutsideError, BadInput
            As :meth:`opened`.
        """
        with self.opened(name) as file:
            if most is None:
                return file.read()
            # It may grow while it is read.
            content = file.read(most + 1) if os.fstat(file.fileno()).st_size <= most else None
        if content is None or len(content) > most:
            raise BadInput(f"`{shown(name)}` is larger than {most:,} bytes")
        return content

    def about(self, name: str | os.PathLike[str]) -> os.stat_result | None:
        """Return what is known of a file or folder; None if there is none.

        Raises
        ------
        OutsideError, BadInput
            As :meth:`opened`.
        """
        try:
            found = self._descriptor(name)
        except FileNotFoundError:
            return None
        try:
            return os.fstat(found)
        finally:
            os.close(found)

    def is_file(self, name: str | os.PathLike[str]) -> bool:
        """Return True for a file of bytes."""
        about = self.about(name)
        return about is not None and stat.S_ISREG(about.st_mode)

    def is_folder(self, name: str | os.PathLike[str]) -> bool:
        """Return True for a folder."""
        about = self.about(name)
        return about is not None and stat.S_ISDIR(about.st_mode)

    def names(self, name: str | os.PathLike[str]) -> list[str]:
        """Return the names in a folder, in their order; none of one that is not there.

        Raises
        ------
        OutsideError, BadInput
            As :meth:`opened`.
        """
        try:
            found = self._descriptor(name)
        except FileNotFoundError:
            return []
        try:
            return sorted(os.listdir(found))  # noqa: PTH208 - of a descriptor
        except OSError as error:
            raise BadInput(f"`{shown(name)}` cannot be read ({error.strerror})") from None
        finally:
            os.close(found)

    def path(self, name: str | os.PathLike[str]) -> Path:
        """Return the path of what is to be written, whose folders lead through no link.

        Those that are not there are made by the writer.

        Raises
        ------
        OutsideError, BadInput
            As :meth:`opened`.
        """
        with suppress(FileNotFoundError):
            os.close(self._descriptor(name))
        return self.folder / name

    def _descriptor(self, name: str | os.PathLike[str]) -> int:
        parts = _parts(name)
        try:
            at = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise BadInput(f"{self.folder}: {error.strerror}") from None
        for n, part in enumerate(parts):
            inner = os.O_DIRECTORY if n < len(parts) - 1 else 0
            try:
                following = os.open(part, _FLAGS | inner, dir_fd=at)
            except FileNotFoundError:
                raise
            except OSError as error:
                if _is_link(part, at):
                    raise OutsideError(
                        f"`{shown(name)}` leads through a link, expected a folder's own files"
                    ) from None
                # A name under a file, and one that is too long, are names of nothing.
                if error.errno in {errno.ENOTDIR, errno.ENAMETOOLONG}:
                    raise FileNotFoundError(error.errno, error.strerror, str(name)) from None
                why = error.strerror
                raise BadInput(f"`{shown(name)}` cannot be read ({why})") from None
            finally:
                os.close(at)
            at = following
        return at


def shown(name: str | os.PathLike[str]) -> str:
    """Return a stranger's name of a file, fit for a line."""
    return "".join(sign if sign.isprintable() else "?" for sign in os.fspath(name)[:200])


def _parts(name: str | os.PathLike[str]) -> list[str]:
    text = os.fspath(name)
    parts = [part for part in text.split("/") if part not in {"", "."}]
    if text.startswith("/") or "\0" in text or ".." in parts:
        raise OutsideError(f"`{shown(name)}` lies outside of its folder")
    try:
        length = len(os.fsencode(text))
    except UnicodeEncodeError:
        # Half of a pair of surrogates is in no name of a file.
        length = _LONGEST
    if length >= _LONGEST:
        raise FileNotFoundError(errno.ENOENT, "no such file", text[:200])
    return parts


def _is_link(part: str, at: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(part, dir_fd=at, follow_symlinks=False).st_mode)
    except OSError:
        return False
