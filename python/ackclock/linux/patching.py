"""Changes of a kernel's source: a table of data, and its application."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ackclock.base.errors import BadInput, UnfinishedError

__all__ = ["Patch", "apply", "patches", "version_of", "versions"]

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Patch:
    """A change of one place of one file.

    Attributes
    ----------
    name
        The name, which the manifest of a kernel has.
    file
        The file, from the source's folder.
    find, put
        A regular expression that matches once, and what takes its place.
    why
        The reason.
    since, before
        The versions that have it: from the first on, without the second.
    processor
        A feature of the processor without which it is left out.
    """

    name: str
    file: str
    find: str
    put: str
    why: str
    since: str = ""
    before: str = ""
    processor: str = ""

    def concerns(self, version: str, features: frozenset[str]) -> bool:
        """Return True if a kernel of a version takes it on a processor with these features."""
        here = versions(version)
        return (
            (not self.since or versions(self.since) <= here)
            and (not self.before or here < versions(self.before))
            and (not self.processor or self.processor in features)
        )

    def changed(self, text: str, values: Mapping[str, object]) -> str:
        """Return a file's text with the change; refuse one in which its place is not once.

        Raises
        ------
        UnfinishedError
            The place is not there, or there twice: the source is another than is known.
        """
        put = self.put.format_map(values)
        found, count = re.subn(self.find, put, text)
        if count != 1:
            raise UnfinishedError(
                f"patch {self.name}: {self.file} has its place {count} times, expected once; this"
                " source is none that is known"
            )
        return found


def patches() -> list[Patch]:
    """Return the changes, in the order in which they are applied."""
    text = (_HERE / "kernel.toml").read_text(encoding="utf-8")
    return [Patch(**each) for each in tomllib.loads(text)["patch"]]


def apply(
    texts: Mapping[str, str], version: str, hz: int, features: frozenset[str]
) -> tuple[dict[str, str], list[str]]:
    """Return the files that change, by their names, and the names of the patches.

    Parameters
    ----------
    texts
        The texts of files by their names, as a mapping that reads one when it is asked.
    version
        The kernel's version.
    hz
        The number of ticks a second.
    features
        The features of the processor.
    """
    changed: dict[str, str] = {}
    names = []
    for patch in patches():
        if patch.concerns(version, features):
            text = changed.get(patch.file) or texts[patch.file]
            changed[patch.file] = patch.changed(text, {"hz": hz})
            names.append(patch.name)
    return changed, names


def versions(version: str) -> tuple[int, ...]:
    """Return a version as numbers, to be compared: 6.12.3 as (6, 12, 3)."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("-")[0]))


def version_of(makefile: str) -> str:
    """Return the version of a source from its Makefile, as ``6.12.3``.

    Raises
    ------
    BadInput
        It is no Makefile of Linux.
    """
    found = dict(re.findall(r"(?m)^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)", makefile))
    if len(found) != 3:
        raise BadInput("its Makefile names no version, expected the source of Linux")
    return f"{found['VERSION']}.{found['PATCHLEVEL']}.{found['SUBLEVEL']}"
