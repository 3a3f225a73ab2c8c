#!/usr/bin/env python3
"""Check that the product writes files by its one writer alone.

The writer is the crate ``writer``, in Python ``ackclock/base/writing.py``: files whole or not at
all, in places that are tried first. What else may touch a file is listed with the reason in
``ALLOWED``: a file and the call, the number of times that it may stand there, and why.

Tests, and scripts that are no part of the product, are free. Prints one line a violation; the exit
code is 1 if there is any.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: The files of the writer, in which every call is allowed.
WRITER = ("crates/writer/src/", "python/ackclock/base/writing.py")

_PROC = "sets a switch of the kernel's, which is no file"
_DEVICE = "opens a device, which is no file"
_PROGRAMS = "a folder of live programs, into which others write, too"
_GUEST = "the folder of a guest, which is gone with it"
_BUILT = "a folder in which a kernel is built, which is gone afterwards"
_CACHE = "makes the folder of the cache, in which `write_file` writes"

ALLOWED: dict[tuple[str, str], tuple[int, str]] = {
    ("crates/lab/src/laws.rs", "File::create"): (1, "a trail, which its reader reads meanwhile"),
    ("crates/lab/src/run/load.rs", "create_dir_all"): (1, _CACHE),
    ("crates/kernel/src/built_in.rs", "File::options"): (1, _DEVICE),
    ("crates/live/src/programs/folder.rs", "create_dir_all"): (1, _PROGRAMS),
    ("crates/live/src/machine/net_ns.rs", "fs::write"): (1, _PROC),
    ("crates/live/src/machine/trace_ring.rs", "File::options"): (2, _DEVICE),
    ("crates/live/src/machine/trace_ring.rs", "fs::write"): (1, _PROC),
    ("crates/live/src/run.rs", "OpenOptions"): (1, _DEVICE),
    ("crates/live/src/sys.rs", "OpenOptions"): (1, _DEVICE),
    ("crates/live/src/sys/device.rs", "OpenOptions"): (1, _DEVICE),
    ("python/ackclock/cli/commands/sweep.py", "write_csv"): (1, "writes into memory"),
    ("python/ackclock/base/below.py", "os.open"): (2, "opens to read, from a descriptor"),
    ("python/ackclock/bench/child.py", "write_text"): (1, _PROC),
    ("python/ackclock/linux/booting.py", "open"): (1, _GUEST),
    ("python/ackclock/linux/booting.py", "symlink_to"): (1, _GUEST),
    ("python/ackclock/linux/building.py", "mkdir"): (1, _BUILT),
    ("python/ackclock/linux/guest.py", "open"): (1, _PROC),
    ("python/ackclock/linux/kept.py", "mkdir"): (1, _CACHE),
    ("python/ackclock/linux/kept.py", "rename"): (1, "gives a kernel that is whole its name"),
    ("python/ackclock/linux/sources.py", "mkdir"): (2, _BUILT),
    ("python/ackclock/live/doctor.py", "os.open"): (1, _DEVICE),
    ("python/ackclock/plots/style.py", "savefig"): (1, "draws into memory"),
    ("python/ackclock/report/tables.py", "write_table"): (1, "writes into memory"),
    ("python/ackclock/serve/opening.py", "os.open"): (1, "a file that a browser reads once"),
    ("python/ackclock/sweeps/stores/asking.py", "write_ipc"): (1, "writes into memory"),
    ("python/ackclock/sweeps/stores/results.py", "rename"): (1, "gives columns other names"),
}

_RUST = re.compile(
    r"\b(File::create(?:_new)?|File::options|OpenOptions|DirBuilder|create_dir_all|create_dir"
    r"|fs::write|fs::rename|fs::copy|fs::hard_link|symlink|set_permissions)\b"
)
_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|r#".*?"#|"(?:\\.|[^"\\])*"', re.DOTALL)
_USES = re.compile(r"^\s*(?:pub\s+)?use\s[^;]*;", re.MULTILINE)
_TESTS = re.compile(r"#\[cfg\((?:all\()?test\b.*?\)\]\s*mod \w+ \{.*\Z", re.DOTALL)
_FILES_OF_TESTS = re.compile(r"(^|/)(tests|benches|examples)(/|\.rs$)|/scratch\.rs$")

#: Methods and functions that write, by their last name.
_PYTHON = frozenset(
    {
        *("write_text", "write_bytes", "savefig", "write_table", "write_parquet", "write_csv"),
        *("write_json", "write_ndjson", "write_ipc", "write_excel", "write_feather", "write_image"),
        *("sink_parquet", "sink_csv", "sink_ipc", "sink_ndjson", "to_csv", "to_parquet", "to_json"),
        *("touch", "symlink_to", "hardlink_to", "copyfile", "copy2", "copytree", "mkdir"),
        *("makedirs", "NamedTemporaryFile", "mkstemp", "mknod", "mkfifo", "truncate", "tofile"),
    }
)
#: Functions that count of these modules alone, as other things have methods of those names.
_OF_MODULES = frozenset(
    {
        *(
            "os.open",
            "os.rename",
            "os.replace",
            "os.link",
            "os.symlink",
            "shutil.copy",
            "json.dump",
        ),
        *("shutil.move", "np.save", "np.savez", "np.savetxt", "numpy.save", "pickle.dump"),
    }
)


def rust_calls(text: str) -> list[str]:
    """Return the calls in a Rust file that write, or could."""
    code = _USES.sub(" ", _NOT_CODE.sub(" ", _TESTS.sub(" ", text)))
    return _RUST.findall(code)


def python_calls(text: str) -> list[str]:
    """Return the calls in a Python file that write, or could."""
    found: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name, whole = _names(node.func)
        if name == "open" and whole not in _OF_MODULES:
            if _writes(node, 1 if whole == "open" else 0):
                found.append("open")
        elif whole in _OF_MODULES:
            found.append(whole)
        elif _is_a_writer(name, node):
            found.append(name)
    return found


def _is_a_writer(name: str, call: ast.Call) -> bool:
    if name in {"replace", "rename"}:
        # Of a path: those of texts and tables have other arguments.
        return len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Dict)
    return name in _PYTHON and (name != "to_json" or bool(call.args))


def _names(function: ast.expr) -> tuple[str, str]:
    if isinstance(function, ast.Name):
        return function.id, function.id
    if isinstance(function, ast.Attribute):
        before = function.value.id if isinstance(function.value, ast.Name) else ""
        return function.attr, f"{before}.{function.attr}"
    return "", ""


def _writes(call: ast.Call, place: int) -> bool:
    """Return True if the mode of an ``open`` is another than reading, or not to be seen."""
    modes = [word.value for word in call.keywords if word.arg == "mode"]
    modes += call.args[place : place + 1]
    if not modes:
        return False
    mode = modes[0]
    return not (isinstance(mode, ast.Constant) and set(str(mode.value)) <= set("rbtU"))


def violations(root: Path) -> Iterator[str]:
    """Yield everything that is wrong with the checkout at ``root``."""
    used: set[tuple[str, str]] = set()
    packages = [root / "python/ackclock", root / "studies/ackclock_studies"]
    files = [
        *(root / "crates").rglob("src/**/*.rs"),
        *(path for package in packages for path in package.rglob("*.py")),
    ]
    for path in sorted(files):
        relative = path.relative_to(root).as_posix()
        if relative.startswith(WRITER) or _FILES_OF_TESTS.search(relative):
            continue
        text = path.read_text(encoding="utf-8")
        calls = rust_calls(text) if path.suffix == ".rs" else python_calls(text)
        for call, count in sorted(Counter(calls).items()):
            most, _ = ALLOWED.get((relative, call), (0, ""))
            used.add((relative, call))
            if count > most:
                yield f"{relative}: `{call}` {count} times, {most} allowed; use the writer"
    for relative, call in sorted(ALLOWED.keys() - used):
        yield f"{relative}: `{call}` is allowed and not used; take it out of the list"


def main() -> int:
    """Print every violation; return the exit code."""
    found = list(violations(ROOT))
    for line in found:
        print(line)
    print(f"one writer: {len(found)} violations" if found else "one writer: kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
