"""Kernels that are kept: the folder of each under the user's cache, and its manifest."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.base.writing import write_file

__all__ = [
    "Kept",
    "Manifest",
    "cache",
    "decided",
    "keep",
    "kernels",
    "key_of",
    "one",
    "remove",
    "work_folder",
]

#: The files of a kernel: what is booted, its first process, and what gives it random numbers.
FILES = ("linux", "init", "seeded.so")
#: The names of folders in which kernels are built begin with this, then the process and a dash.
_BUILDING = ".building-"
LICENCE = (
    "linux is GPL-2.0: whoever gives it away gives the source named here, the patches and the"
    " configuration beside it; nothing of it is a part of Ackclock"
)


@dataclass(frozen=True)
class Manifest:
    """The origin of a kernel.

    Attributes
    ----------
    key
        The name of its folder.
    version
        The version of Linux.
    hz
        The ticks a second.
    mode
        ``seccomp`` or ``ptrace``: how calls of the guest's programs are caught.
    config
        A hash of the configuration, which lies beside it as ``config``.
    patches
        The names of the changes of the source.
    compiler
        The first line of ``gcc --version``.
    source
        The source: a package with its version, or a file's name and hash.
    files
        The hashes of the files.
    licence
        The licence of what was built.
    """

    key: str
    version: str
    hz: int
    mode: str
    config: str
    patches: tuple[str, ...]
    compiler: str
    source: str
    files: Mapping[str, str]
    licence: str = LICENCE


@dataclass(frozen=True)
class Kept:
    """A kernel in the cache.

    Attributes
    ----------
    folder
        Its folder.
    manifest
        Its manifest.
    """

    folder: Path
    manifest: Manifest

    def about(self) -> dict[str, Any]:
        """Return what of the kernel decides a run: version, ticks, mode, patches and hashes."""
        said = asdict(self.manifest)
        return {
            name: said[name]
            for name in ("key", "version", "hz", "mode", "patches", "config", "files")
        }


def decided(about: Mapping[str, Any]) -> str:
    """Return all of a kernel that decides a run: the hashes of its files, its ticks and mode."""
    said = {name: about[name] for name in ("version", "hz", "mode", "files")}
    return json.dumps(said, sort_keys=True)


def cache() -> Path:
    """Return the folder of all kernels: ``linux`` in the user's cache of Ackclock."""
    own = os.environ.get("ACKCLOCK_CACHE")
    if own:
        return Path(own).absolute() / "linux"
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "ackclock" / "linux"


def key_of(version: str, hz: int, options: str, patches: tuple[str, ...]) -> str:
    """Return the name of a kernel: version, ticks, and a hash of configuration and patches."""
    decided = json.dumps([version, hz, options, patches])
    return f"{version}-hz{hz}-{hashlib.sha256(decided.encode()).hexdigest()[:8]}"


@contextmanager
def work_folder() -> Generator[Path]:
    """Yield a folder under the cache in which a kernel is built, and which is gone afterwards.

    Those that killed builds have left go, too.

    Raises
    ------
    BadInput
        The cache cannot be written to.
    """
    home = cache()
    try:
        home.mkdir(parents=True, exist_ok=True)
        _tidy(home)
        prefix = f"{_BUILDING}{os.getpid()}-"
        work = tempfile.TemporaryDirectory(prefix=prefix, dir=home, ignore_cleanup_errors=True)
    except OSError as error:
        raise BadInput(f"cannot write {home}: {error.strerror}") from None
    with work as name:
        yield Path(name)


def _tidy(home: Path) -> None:
    """Remove the folders of builds whose process is gone."""
    for folder in home.glob(f"{_BUILDING}*"):
        pid = folder.name.removeprefix(_BUILDING).partition("-")[0]
        if not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)


def keep(staged: Path, manifest: Manifest) -> Kept:
    """Give a folder that has every file of a kernel its name, with the manifest; return it.

    A kernel of the same key that another has kept meanwhile stays.
    """
    text = json.dumps(asdict(manifest), indent=2)
    write_file(staged / "manifest.json", f"{text}\n")
    folder = cache() / manifest.key
    try:
        staged.rename(folder)
    except OSError:
        if _read(folder) is None:
            raise BadInput(f"cannot write {folder}: something else is there") from None
    return Kept(folder, manifest)


def kernels() -> list[Kept]:
    """Return the whole kernels in the cache, the newest version first."""
    from ackclock.linux.patching import versions  # noqa: PLC0415 - asked for to sort

    home = cache()
    folders = sorted(home.iterdir()) if home.is_dir() else []
    found = [Kept(folder, told) for folder in folders if (told := _read(folder)) is not None]
    return sorted(
        found, key=lambda it: (versions(it.manifest.version), -it.manifest.hz), reverse=True
    )


def _read(folder: Path) -> Manifest | None:
    try:
        told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    names = [field.name for field in fields(Manifest)]
    if not isinstance(told, dict) or sorted(map(str, told)) != sorted(names):
        return None
    if told["key"] != folder.name or not all((folder / name).is_file() for name in FILES):
        return None
    values: dict[str, Any] = {name: told[name] for name in names}
    values["patches"] = tuple(values["patches"])
    return Manifest(**values)


def one(word: str | None) -> Kept:
    """Return the kernel that a word means: a key or its beginning, or ``7.2, hz 1000``.

    None, and an empty word, is the newest version, with the fewest ticks.

    Raises
    ------
    BadInput
        There is none.
    """
    found = kernels()
    if not found:
        version = re.split(r"[,-]", word or "7.2")[0].strip()
        raise BadInput(f"no kernel is in {cache()}, expected one: `ackclock linux build {version}`")
    if not word:
        return found[0]
    version, hz, digest = _read_word(word) or (word, "", "")
    for kernel in found:
        told = kernel.manifest
        if (
            f"{told.version}.".startswith(f"{version}.")
            and hz in ("", str(told.hz))
            and told.key.rpartition("-")[2].startswith(digest)
        ):
            return kernel
    keys = [kernel.manifest.key for kernel in found]
    raise BadInput(f"`{word}` is no kernel in the cache{nearest(word, keys)}")


def _read_word(word: str) -> tuple[str, str, str] | None:
    """Return the version, the ticks and the hash's beginning that a word says, as far as it does.

    The word is a key, its beginning (``7.2``, ``7.2-hz1000``) or ``7.2, hz 1000``.
    """
    read = re.fullmatch(r"([\d.]+)(?:(?:-|, *)hz *(\d+)(?:-([0-9a-f]*))?)?", word.strip())
    return None if read is None else (read[1], read[2] or "", read[3] or "")


def remove(key: str) -> Path:
    """Remove a kernel from the cache, and return the folder that it had.

    Raises
    ------
    BadInput
        There is no kernel of this key, or it cannot be removed.
    """
    keys = {kernel.manifest.key: kernel.folder for kernel in kernels()}
    if key not in keys:
        said = nearest(key, keys) if keys else f": {cache()} has none"
        raise BadInput(f"`{key}` is no kernel in the cache{said}")
    try:
        # The manifest first: without it the folder is no kernel.
        (keys[key] / "manifest.json").unlink()
        shutil.rmtree(keys[key])
    except OSError as error:
        raise BadInput(f"cannot remove {keys[key]}: {error.strerror}") from None
    return keys[key]
