"""Keys of runs: all that decides the numbers of one, as a hash.

Whatever is kept, found again or cited has its name from here: the cells of sweeps, searches and
readings, the values of suites, the parts of studies, the digests of suites and comparisons, the
notes in exported files. A key is a hash of

* the scenario as the engine reads it, its seed and the numbers of its files included, its title
  left out;
* the substrate, and of runs on packets the kernel and the programs that the scenario names: of a
  kernel in virtual time its files, ticks and mode;
* the rules of the engine: the sources that decide numbers, and nothing of how they were built;
* of each law of one's own that the scenario names the sources, with the files that they include;
* the sources of what turns tables into values, where values are kept.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import json
import os
import re
import shutil
import sys
import sysconfig
import threading
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.places import LINUX, Place

if TYPE_CHECKING:
    from ackclock.runs.run import Run

__all__ = [
    "decided_by_library",
    "decided_by_python",
    "digest",
    "files_in",
    "kernel_at",
    "kernels_ids",
    "keys_of_run",
    "laws_in",
    "laws_named",
    "listening",
    "note_law",
    "own_sources",
    "place_id",
    "readers_id",
    "rules_id",
    "run_keys",
    "settled",
]

#: The sources of the package that turn no table into a value: what draws, prints, serves, and
#: studies, which name theirs.
_NO_READERS = re.compile(
    r"(bench|cli|convert|examples|gym|notebook|plots|report|serve|studies)/|live/(doctor|exercises)"
    r"|linux/(building|checking|patching|sources)"
)
_PACKAGE = Path(__file__).parents[1]
#: The modules that studies share.
_FRAMEWORK: tuple[str, ...] = ("ackclock", "studies", "framework")
#: The hash of what decides each law of one's own.
_LAWS: dict[str, str] = {}
#: The most characters of the name of a file with its folders, as Linux has them.
_MOST_NAME = 4095
#: The sources of modules as they were first seen: an edit changes no module that is imported.
_SOURCES: WeakKeyDictionary[ModuleType, bytes] = WeakKeyDictionary()


def rules_id() -> str:
    """Return the version of the engine's rules: builds of one id give the same results.

    It is a hash of the sources that decide numbers, such as ``"5f0c21d4a1b2c3d4"``, and the same
    whatever machine compiled them, when and how.
    """
    return _core.rules()


@functools.cache
def readers_id() -> str:
    """Return a hash of the sources in Python that turn the tables of runs into values."""
    folder = _PACKAGE
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.py")}
    return digest(
        f"{name}\n{_lines(files[name])}" for name in sorted(files) if not _NO_READERS.match(name)
    )


def own_sources(paths: Iterable[Path]) -> list[Path]:
    """Return files of studies and suites with all that they import of their own package.

    What studies share, ``ackclock.studies.framework``, counts as their own. The order is that of
    the names of the modules, wherever the packages are installed.
    """
    found: dict[str, Path] = {}
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        home = path.parent
        while (home / "__init__.py").is_file():
            home = home.parent
        package = path.parent.relative_to(home).parts
        name = "/".join((*package, path.name))
        if name in found:
            continue
        found[name] = path
        if path.suffix != ".py":
            continue
        roots = {_FRAMEWORK: _PACKAGE.parent}
        if package[:1] != _FRAMEWORK[:1]:
            roots[package[:1] or (path.stem,)] = home
        for base, names in _taken(ast.parse(path.read_bytes()), package):
            at = next((at for root, at in roots.items() if base[: len(root)] == root), None)
            if at is None:
                continue
            inner = [_file_of(at.joinpath(*base, each)) for each in names]
            # A package's own file counts where something is taken from it, not on the way through.
            own = _file_of(at.joinpath(*base)) if not inner or None in inner else None
            waiting += [file for file in (*inner, own) if file is not None]
    return [found[name] for name in sorted(found)]


def _taken(
    tree: ast.Module, package: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield each module that a file of a package imports, and the names that it takes of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((tuple(each.name.split(".")), []) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = (*above, *(node.module.split(".") if node.module else ()))
            yield base, [each.name for each in node.names]


def _file_of(path: Path) -> Path | None:
    """Return the source of a module, named by its path without an ending."""
    files = (path.with_name(f"{path.name}.py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def digest(pieces: Iterable[str]) -> str:
    """Return a short hash of texts, in their order."""
    state = hashlib.sha256()
    for piece in pieces:
        state.update(hashlib.sha256(piece.encode()).digest())
    return state.hexdigest()[:16]


def run_keys(texts: Sequence[str], *, on: str | Place = "sim", about: str = "") -> list[str]:
    """Return the key of each scenario, a JSON text with its seed.

    Parameters
    ----------
    texts
        The scenarios.
    on
        The place.
    about
        A text on what is kept of a run, and the sources that decide it.

    Raises
    ------
    BadInput
        There is no such place or kernel.
    """
    place = Place.of(on)
    named = [_of_scenario(place, text) for text in texts]
    known = {each: place_id(each) for each in dict.fromkeys(named)}
    return _keys(texts, [known[each] for each in named], place, about)


def keys_of_run(run: Run, about: str = "") -> list[str]:
    """Return the keys of a run that is there: of a kernel in virtual time by its own report."""
    live = run.live or {}
    place = Place.of(live.get("substrate", "sim" if run.theory is None else "theory"))
    kernel = live.get(LINUX)
    before = place_id(place) if kernel is None else _place_id(place, _decided(kernel))
    texts = run.scenario_texts
    return _keys(texts, [before] * len(texts), place, about)


def _keys(texts: Sequence[str], beginnings: Sequence[str], place: Place, about: str) -> list[str]:
    found = []
    texts = [_untitled(text) for text in texts]
    canonicals = _core.canonical(texts)
    for before, text, (canonical, _) in zip(beginnings, texts, canonicals, strict=True):
        said = text if canonical is None else canonical
        programs = _programs(said) if place.is_real else ""
        decided = f"{before} {about} {laws_in(said)} {programs} {said}"
        found.append(hashlib.blake2b(decided.encode(), digest_size=12).hexdigest())
    return found


def place_id(on: str | Place) -> str:
    """Return the substrate, the engine's rules, and of runs on packets the kernel.

    Raises
    ------
    BadInput
        There is no such place or kernel.
    """
    place = Place.of(on)
    if place.is_guest:
        return _place_id(place, _decided(kernel_at(place)))
    return _place_id(place, f"Linux {os.uname().release}" if place.on == "live" else "")


def kernel_at(place: Place) -> dict[str, Any]:
    """Return what of a place's kernel in virtual time decides a run, by its names.

    Raises
    ------
    BadInput
        There is no such kernel.
    """
    from ackclock.linux import kept  # noqa: PLC0415 - a room above

    return kept.one(place.key or place.kernel).about()


def _place_id(place: Place, kernel: str) -> str:
    return f"{place.on} {rules_id()}{kernel and f' {kernel}'}"


def _decided(kernel: Mapping[str, Any]) -> str:
    from ackclock.linux import kept  # noqa: PLC0415 - a room above

    return kept.decided(kernel)


def kernels_ids() -> list[str]:
    """Return what decides runs of each kernel in virtual time that is there."""
    from ackclock.linux import kept  # noqa: PLC0415 - a room above

    return [_decided(kernel.about()) for kernel in kept.kernels()]


def settled(on: str | Place, scenario: str = "{}") -> Place:
    """Return a place with the whole key of its kernel, so that one built meanwhile is no other.

    Parameters
    ----------
    on
        The place.
    scenario
        A scenario, as JSON text, that may name the kernel.

    Raises
    ------
    BadInput
        There is no such place or kernel.
    """
    place = Place.of(on)
    if not place.is_guest:
        return place
    from ackclock.linux import kept  # noqa: PLC0415 - a room above

    asked = _of_scenario(place, scenario)
    return replace(place, key=kept.one(asked.key or asked.kernel).manifest.key)


def _of_scenario(place: Place, text: str) -> Place:
    """Return a place with the kernel that a scenario names, where it is Linux and has none."""
    if not place.is_guest or place.key or place.kernel or '"linux":' not in text:
        return place
    return replace(place, kernel=json.loads(text).get(LINUX, ""))


def laws_named(text: str) -> dict[str, str]:
    """Return the hashes of the sources of laws of one's own that a text names, by their names."""
    return {
        name: _LAWS[name]
        for name in sorted(_LAWS)
        if re.search(rf"(?<![a-z0-9]){name}(?![a-z0-9])", text)
    }


def laws_in(text: str) -> str:
    """Return the same as a text."""
    return " ".join(f"{name}={source}" for name, source in laws_named(text).items())


def files_in(value: object, find: Callable[[str], str | None] = str) -> list[str]:
    """Return the hashes of the files that texts of a table name, as a channel's ``file`` does.

    ``find`` returns the place of the file that a text names.
    """
    if isinstance(value, Mapping):
        return [each for one in value.values() for each in files_in(one, find)]
    if isinstance(value, list | tuple):
        return [each for one in value for each in files_in(one, find)]
    if not isinstance(value, str) or "\0" in value or len(value) > _MOST_NAME:
        return []
    path = Path(find(value) or value)
    return [hashlib.sha256(path.read_bytes()).hexdigest()] if path.is_file() else []


def note_law(name: str, decided: Iterable[str] | None) -> None:
    """Note what decides a law that was registered.

    None stands for a law of which nobody can say it, such as a function with a state: no run with
    it is the same as one of another registration.
    """
    _LAWS[name] = uuid.uuid4().hex[:16] if decided is None else digest(decided)


def decided_by_library(path: Path) -> list[str]:
    """Return what decides a law in a shared library: its bytes, and those of libraries it needs.

    It says which by their names; those of the system are left out.
    """
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    mapped = {line.split(maxsplit=5)[5] for line in maps if "/" in line}
    others = {
        Path(name).name: Path(name)
        for name in sorted(mapped)
        if ".so" in name and not name.startswith(("/usr/lib", "/lib")) and Path(name).is_file()
    }
    found: dict[Path, bytes] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found[file] = file.read_bytes()
            waiting += [
                other for name, other in others.items() if name.encode() + b"\0" in found[file]
            ]
    return sorted(hashlib.sha256(content).hexdigest() for content in found.values())


def decided_by_python(law: object, opened: Iterable[str] = ()) -> list[str] | None:
    """Return what decides a law in Python: its file, what that imports, and files opened meanwhile.

    None if the class alone does not say how it will act: a function, or a class within one.
    """
    if not inspect.isclass(law) or "<locals>" in law.__qualname__:
        return None
    modules = [sys.modules.get(base.__module__) for base in law.__mro__]
    files: dict[str, str] = {}
    for module in modules:
        if module is not None and _is_users(module):
            _follow(module, files)
    if not files:
        return None
    for name in opened:
        path = Path(name).resolve()
        if path.is_file() and not _is_installed(path) and path.suffix not in (".py", ".pyc"):
            files[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    # Numbers that somebody has set since then, as `Mine.gain = 2`.
    plain = (bool, int, float, str, type(None), tuple)
    numbers = [
        f"{name}={value!r}"
        for base in law.__mro__
        for name, value in sorted(vars(base).items())
        if isinstance(value, plain) and not name.startswith("__")
    ]
    return [law.__qualname__, *numbers, *sorted(files.values())]


_HOOKED: list[bool] = []
_HEARD = threading.local()


@contextmanager
def listening() -> Generator[list[str]]:
    """Note the names of files that this thread opens meanwhile."""
    if not _HOOKED:
        _HOOKED.append(True)
        sys.addaudithook(_hear)
    _HEARD.names = names = []
    try:
        yield names
    finally:
        _HEARD.names = None


def _hear(event: str, given: tuple[Any, ...]) -> None:
    names = getattr(_HEARD, "names", None) if event == "open" else None
    if names is not None and isinstance(given[0], str | bytes | os.PathLike):
        names.append(os.fsdecode(given[0]))


def _follow(module: ModuleType, files: dict[str, str]) -> None:
    """Note the source of a module and of all that it imports, but for what is installed."""
    file = getattr(module, "__file__", None)
    if file is None:
        return
    path = Path(file)
    if str(path) in files:
        return
    if _is_installed(path):
        version = getattr(module, "__version__", None)
        if version is not None:
            files[str(path)] = f"{module.__name__} {version}"
        return
    if module not in _SOURCES:
        try:
            _SOURCES[module] = path.read_bytes()
        except OSError:
            return
    content = _SOURCES[module]
    files[str(path)] = hashlib.sha256(content).hexdigest()
    if path.suffix != ".py":
        return
    with suppress(SyntaxError, ValueError):
        for name in _imports(ast.parse(content), module.__package__ or ""):
            found = _module(name)
            if found is not None:
                _follow(found, files)


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield the names of modules that a file imports, and what may be one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(part for part in (above, node.module or "") if part)
            yield base
            yield from (f"{base}.{each.name}" for each in node.names)


def _module(name: str) -> ModuleType | None:
    """Return a module that was imported, or that a function will import."""
    if name in sys.modules:
        return sys.modules[name]
    with suppress(ImportError, AttributeError, ValueError):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None and spec.has_location:
            return importlib.util.module_from_spec(spec)
    return None


def _is_users(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and not _is_installed(Path(file))


@functools.cache
def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return (*(paths[key] + os.sep for key in ("stdlib", "platstdlib")), f"{_PACKAGE}/")


def _is_installed(path: Path) -> bool:
    """Return True of Python's own files, of packages, and of ours but for the examples."""
    if {"site-packages", "dist-packages"} & set(path.parts):
        return True
    return str(path).startswith(_installed()) and "examples" not in path.parts


def _lines(file: Path) -> str:
    """Return the lines of a source that are no comments."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _untitled(text: str) -> str:
    """Return a scenario without what decides no number of it: its title, and the kernel's name."""
    if '"title"' not in text and '"linux":' not in text:
        return text
    table = json.loads(text)
    dropped = [table.pop(name) for name in ("title", LINUX) if name in table]
    return json.dumps(table) if dropped else text


def _programs(text: str) -> str:
    """Return the hashes of the programs and scripts that a scenario names."""
    try:
        asked = _core.programs_asked(text)
    except BadInput:
        return ""
    return " ".join(files_in(json.loads(text), shutil.which)) if asked else ""
