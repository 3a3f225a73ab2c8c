"""Sources of Linux: the distribution's packages, and tarballs or folders that the user has."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.writing import copy_file, write_file

__all__ = ["Progress", "called", "fetch", "unpack"]

Progress = Callable[[str], None]
_VERSION = re.compile(r"(\d+\.\d+)(\.\d+)?")
#: The suites that are looked into behind the machine's own, where the distribution has such names.
_NEWER = {"debian": ("stable", "testing", "unstable")}


def called(command: list[str], what: str, cwd: Path | None = None) -> str:
    """Run a program and return what it prints; refuse an end that is none of success.

    Raises
    ------
    UnfinishedError
        It failed; the last line that it wrote is told.
    """
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise UnfinishedError(f"{what}: {lines[-1] if lines else f'code {done.returncode}'}")
    return done.stdout


def fetch(word: str, work: Path, progress: Progress) -> tuple[Path, str]:
    """Return a tarball or folder with the source that a word names, and what it is called.

    Parameters
    ----------
    word
        A version such as ``7.2``, or the path of a tarball or folder.
    work
        A folder for what is downloaded.
    progress
        Told what goes on.

    Raises
    ------
    BadInput
        The word is neither, or no package has this version.
    """
    path = Path(word)
    if path.is_dir():
        return path, f"the folder {path.name}"
    if path.is_file():
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return path, f"{path.name}, SHA-256 {digest}"
    read = _VERSION.fullmatch(word)
    if read is None:
        raise BadInput(
            f"`{word}` is neither a version such as 7.2 nor a file or folder with the source of"
            " Linux"
        )
    return _package(read[1], work, progress)


def unpack(source: Path, into: Path) -> Path:
    """Copy or unpack a source into a folder, and return the one that has its Makefile.

    Raises
    ------
    BadInput
        There is no source of Linux in it.
    UnfinishedError
        It cannot be unpacked.
    """
    into.mkdir()
    if source.is_dir():
        called(["cp", "-a", f"{source}/.", str(into)], f"cannot copy {source}")
    else:
        called(["tar", "-xf", str(source), "-C", str(into)], f"cannot unpack {source.name}")
    for place in (into, *sorted(into.iterdir())):
        if (place / "Makefile").is_file() and (place / "arch" / "um").is_dir():
            return place
    raise BadInput(f"{source}: there is no source of Linux in it, expected Makefile and arch/um")


def _package(version: str, work: Path, progress: Progress) -> tuple[Path, str]:
    """Download the distribution's package of a version, by lists that are nobody else's."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise BadInput(
            f"{version}: no apt-get here to find its source with, expected the path of a tarball"
        )
    name = f"linux-source-{version}"
    here, below = _archive(), work / "apt"
    suites = dict.fromkeys((here[1], *_NEWER.get(_distribution(), ())))
    for suite in suites:
        progress(f"looking for {name} in {suite}")
        options = _own_lists(below / suite, here[0], suite, here[2])
        called(["apt-get", *options, "update"], f"cannot read the packages of {suite}")
        told = subprocess.run(
            [shutil.which("apt-cache") or "apt-cache", *options, "show", "--no-all-versions", name],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        found = re.search(r"(?m)^Version: (\S+)$", told)
        if found is None:
            continue
        progress(f"downloading {name} {found[1]}")
        called(["apt-get", *options, "download", name], f"cannot download {name}", below)
        (package,) = below.glob("*.deb")
        called(["dpkg-deb", "-x", str(package), str(below / "tree")], f"cannot unpack {name}")
        package.unlink()
        tarballs = sorted((below / "tree" / "usr" / "src").glob("*.tar.*"))
        if not tarballs:
            raise UnfinishedError(f"{name}: there is no source in it")
        return tarballs[0], f"{name} {found[1]}"
    raise BadInput(
        f"{version}: no package {name} in {', '.join(suites)}, expected another version or the path"
        " of a tarball"
    )


def _own_lists(folder: Path, archive: str, suite: str, key: str) -> list[str]:
    """Return the options by which apt has lists of its own in a folder, of one suite alone."""
    signed = f" [signed-by={key}]" if key else ""
    listed = folder / "sources.list"
    write_file(listed, f"deb{signed} {archive} {suite} main\n", make_folder=True)
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    settings = {
        "Dir::Etc::sourcelist": listed,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
    }
    if os.geteuid() == 0:
        # The ordinary user that apt would become cannot read a folder under root's cache.
        settings["APT::Sandbox::User"] = "root"
    return ["-q", *(f"-o{name}={value}" for name, value in settings.items())]


def _archive() -> tuple[str, str, str]:
    """Return the archive, suite and keyring by which this machine's own packages come."""
    asked = "$(CREATED_BY)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)"
    told = called(["apt-get", "indextargets", "--format", asked], "cannot ask apt for its sources")
    codename = _released().get("VERSION_CODENAME", "")
    for made, archive, suite, component in (line.split("|") for line in told.splitlines()):
        if made == "Packages" and component == "main" and suite in (codename, "testing", "sid"):
            return archive, suite, _keyring()
    raise BadInput("apt names no archive of this distribution, expected the path of a tarball")


def _keyring() -> str:
    """Return the keyring of the distribution, by which newer suites are signed, too."""
    rings = (
        f"/usr/share/keyrings/{_distribution()}-archive-keyring.{end}" for end in ("gpg", "pgp")
    )
    return next((ring for ring in rings if Path(ring).is_file()), "")


def _distribution() -> str:
    return _released().get("ID", "")


def _released() -> dict[str, str]:
    return dict(_lines(Path("/etc/os-release")))


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            yield name, value.strip('"')


def save(tarball: Path, folder: Path) -> Path:
    """Copy a source that was downloaded into a folder of the user's, and return its path."""
    path = folder / tarball.name
    copy_file(tarball, path, make_folder=True)
    return path
