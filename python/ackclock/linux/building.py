"""The building of a kernel: its source changed, configured, compiled, kept whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ackclock import _core
from ackclock.base.children import begun, with_children
from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.words import number_of
from ackclock.base.writing import Folder, copy_file, write_file
from ackclock.linux import kept, patching, sources

__all__ = ["TICKS", "TOOLS", "Building", "build", "laws_of", "missing_tools", "refuse_machine"]

#: The programs that a build takes, of which each is a package of the same name but for strip.
TOOLS = ("gcc", "make", "flex", "bison", "bc", "xz", "tar", "strip")
TICKS = (250, 1000)
_HERE = Path(__file__).parent
_COMPILED = re.compile(r"^\s+(?:CC|AS|HOSTCC)\s")
#: The variables by which a kernel would name who built it, and when.
_NOBODY = {
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
    "KBUILD_BUILD_USER": "ackclock",
    "KBUILD_BUILD_HOST": "ackclock",
    "LC_ALL": "C",
}


def refuse_machine() -> None:
    """Refuse a machine that is none of Linux on x86-64.

    Raises
    ------
    BadInput
        It is another; the line names it.
    """
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        raise BadInput(
            "kernels in virtual time are for Linux on x86-64, and this machine is"
            f" {platform.system()} on {platform.machine()}"
        )


def missing_tools() -> list[str]:
    """Return the programs of a build that this machine does not have."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


@dataclass
class Building:
    """The wishes for a build.

    Attributes
    ----------
    word
        A version, or the path of a tarball or folder.
    hz
        The ticks a second.
    jobs
        The compilations at once; default: one for each core.
    source_to
        A folder in which a source that was downloaded is kept.
    """

    word: str
    hz: int = 250
    jobs: int | None = None
    source_to: Path | None = None


def build(wish: Building, progress: Callable[[str], None]) -> tuple[kept.Kept, bool]:
    """Build a kernel and keep it; return it, and False if it was there before.

    Raises
    ------
    BadInput
        This machine is no Linux on x86-64 or lacks a program, or there is no such source.
    UnfinishedError
        The source cannot be changed or compiled; the first error is told.
    """
    refuse_machine()
    if wish.hz not in TICKS:
        raise BadInput(f"--hz: `{wish.hz}`, expected {' or '.join(map(str, TICKS))}")
    if lacking := missing_tools():
        raise BadInput(f"to build a kernel this machine lacks {', '.join(lacking)}")
    with ExitStack() as held:
        held.enter_context(with_children())
        if wish.source_to is not None:
            held.enter_context(Folder(wish.source_to))
        work = held.enter_context(kept.work_folder())
        tarball, source = sources.fetch(wish.word, work, progress)
        if wish.source_to is not None and tarball.is_relative_to(work):
            sources.save(tarball, wish.source_to)
        progress(f"unpacking {tarball.name}")
        tree = sources.unpack(tarball, work / "source")
        version = patching.version_of((tree / "Makefile").read_text(encoding="utf-8"))
        if re.fullmatch(r"\d+\.\d+\.\d+", wish.word) and wish.word != version:
            raise BadInput(f"`{wish.word}`: the distribution has {version}")
        changed, names = patching.apply(_Files(tree), version, wish.hz, _features())
        options = (_HERE / "options.config").read_text(encoding="utf-8")
        own = (*_own_sources(), *laws_of(names).values())
        key = kept.key_of(version, wish.hz, options, (*names, *changed.values(), *own))
        there = [each for each in kept.kernels() if each.manifest.key == key]
        if there:
            return there[0], False
        for name, text in {**changed, **laws_of(names)}.items():
            write_file(tree / name, text, make_folder=True)
        _configure(tree, options, progress)
        _compile(tree, wish.jobs or len(os.sched_getaffinity(0)), progress)
        progress("stripping")
        staged = _stage(tree, work / "kept")
        starting = (tree / "arch/um/os-Linux/start_up.c").read_text(encoding="utf-8")
        compiler = sources.called(["gcc", "--version"], "gcc").splitlines()[0]
        manifest = kept.Manifest(
            key=key,
            version=version,
            hz=wish.hz,
            mode="seccomp" if '"seccomp="' in starting else "ptrace",
            config=_digest(staged / "config")[:16],
            patches=tuple(names),
            compiler=compiler,
            source=source,
            files={name: _digest(staged / name) for name in kept.FILES},
        )
        return kept.keep(staged, manifest), True


class _Files(Mapping[str, str]):
    """The files of a tree, which are read as they are asked for."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree

    def __getitem__(self, name: str) -> str:
        try:
            return (self._tree / name).read_text(encoding="utf-8")
        except OSError:
            raise BadInput(f"the source has no {name}, expected that of Linux") from None

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _features() -> frozenset[str]:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"(?m)^flags\s*:(.*)$", text)
    return frozenset(found[1].split() if found else ())


def _own_sources() -> list[str]:
    return [(_HERE / name).read_text(encoding="utf-8") for name in ("init.c", "seeded.c")]


def laws_of(patches: Sequence[str]) -> dict[str, str]:
    """Return the sources of our laws as parts of the kernel, by their paths.

    A kernel before 6.10, of which the patches have none, gets none.
    """
    if "laws" not in patches:
        return {}
    sources: dict[str, str] = json.loads(_core.kernel("sources"))
    return {f"net/ipv4/ackclock/{name}": text for name, text in sources.items()}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _configure(tree: Path, options: str, progress: Callable[[str], None]) -> None:
    progress("configuring")
    _make(tree, ["tinyconfig"], lambda _: None)
    config = tree / ".config"
    write_file(config, f"{config.read_text(encoding='utf-8')}\n{options}")
    _make(tree, ["olddefconfig"], lambda _: None)
    if "CONFIG_UML_TIME_TRAVEL_SUPPORT=y\n" not in config.read_text(encoding="utf-8"):
        raise UnfinishedError("this version of Linux has no virtual time, expected 5.4 or later")


def _compile(tree: Path, jobs: int, progress: Callable[[str], None]) -> None:
    compiled = 0

    def hear(line: str) -> None:
        nonlocal compiled
        compiled += bool(_COMPILED.match(line))
        progress(f"compiling: {number_of(compiled, 'object')}")

    _make(tree, [f"-j{jobs}", "vmlinux"], hear)


def _make(tree: Path, words: list[str], hear: Callable[[str], None]) -> None:
    """Run make on a tree, which is ended with all that it has started if this is interrupted."""
    fault = ""
    with begun(
        [shutil.which("make") or "make", "ARCH=um", *words],
        cwd=tree,
        env={**os.environ, **_NOBODY},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as running:
        for line in running.stdout or ():
            if not fault and re.search(r"\berror\b|\*\*\*", line, re.IGNORECASE):
                fault = line.strip()
            hear(line)
        code = running.wait()
    if code != 0:
        raise UnfinishedError(f"make {words[-1]} failed: {fault or f'code {code}'}")


def _stage(tree: Path, folder: Path) -> Path:
    """Put what is kept of a build into a folder: the kernel, its configuration, and our two."""
    folder.mkdir()
    copy_file(tree / ".config", folder / "config")
    sources.called(["strip", "-o", str(folder / "linux"), str(tree / "vmlinux")], "strip")
    flags = ["gcc", "-O2", "-o"]
    own = {"init": ["-static"], "seeded.so": ["-shared", "-fPIC"]}
    for name, more in own.items():
        source = _HERE / f"{Path(name).stem}.c"
        sources.called([*flags, str(folder / name), *more, str(source)], f"cannot compile {name}")
    return folder
