"""The modules of a crate: which file uses which, and the circles among them.

A use is a path: in a ``use`` declaration, or written out in the code. A name that a module passes
on (``pub use``) is a use of the file that defines the name, not of the module that passes it on.
Modules of tests count for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_COMMENT_OR_TEXT = re.compile(
    r"""//[^\n]*                                  # to the end of the line
      | /\*.*?\*/                                 # a block
      | (?P<hash>r(?P<hashes>\#*)".*?"(?P=hashes))  # raw text
      | "(?:\\.|[^"\\])*"                         # text
      | '(?:\\.|[^'\\])'                          # one character
    """,
    re.VERBOSE | re.DOTALL,
)
USE = re.compile(r"\buse\s+([^;]+);")
_CHILD = re.compile(r"(?<![\w:$])(\w+)(?:::\w+)+")
_PATH = re.compile(r"\b(?:\$?crate|super|self)(?:::\w+)+")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*(?P<end>[{;])")

#: A module's name: its path below the crate, empty for `lib.rs`.
Module = tuple[str, ...]


def without_comments(text: str) -> str:
    """Return a file without comments and texts."""
    return _COMMENT_OR_TEXT.sub(" ", text)


def without_tests(text: str) -> str:
    """Return a file without comments and modules of tests, and with its texts."""
    kept = _COMMENT_OR_TEXT.sub(lambda it: it[0] if it[0].startswith(('"', "r")) else " ", text)
    return _without_tests(kept)


def code_of(text: str) -> str:
    """Return the code of a file, without comments, texts and tests."""
    return _without_tests(without_comments(text))


def _without_tests(code: str) -> str:
    while found := _TESTS.search(code):
        end = found.end()
        if found["end"] == "{":
            end = _closing(code, found.end())
        code = code[: found.start()] + code[end:]
    return code


def _closing(code: str, start: int) -> int:
    depth = 1
    for place in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return len(code)


def leaves(tree: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paths of a `use` tree and the names that they get: ``a::{b, c as d}`` gives two."""
    depth, start = 0, 0
    for place, char in enumerate(tree + ","):
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif char == "," and depth == 0:
            branch = tree[start:place].strip()
            start = place + 1
            stem, brace, rest = branch.partition("{")
            if brace:
                yield from leaves(rest.rpartition("}")[0], prefix + stem.strip())
            elif branch:
                path, *name = re.split(r"\s+as\s+", branch)
                full = (prefix + path.strip()).removesuffix("::self").removeprefix("::")
                yield full, name[0] if name else full.rpartition("::")[2]


def module_of(file: Path, source: Path) -> Module:
    """Return the module of ``file`` in the folder ``source`` of a crate."""
    parts = file.relative_to(source).with_suffix("").parts
    return () if parts == ("lib",) else parts


@dataclass
class Crate:
    """The modules of a crate, by name, and what each uses."""

    code: Mapping[Module, str]
    _names: dict[Module, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, source: Path) -> Crate:
        """Read the folder ``source`` of a crate, its tests excepted."""
        files = [
            file
            for file in sorted(source.rglob("*.rs"))
            if "tests" not in file.relative_to(source).with_suffix("").parts
        ]
        return cls(
            {module_of(file, source): code_of(file.read_text(encoding="utf-8")) for file in files}
        )

    def __post_init__(self) -> None:
        """Note the names that each module has from elsewhere."""
        for module, code in self.code.items():
            uses = (leaf for tree in USE.findall(code) for leaf in leaves(tree))
            self._names[module] = {name: path for path, name in uses}

    def uses(self) -> dict[Module, set[Module]]:
        """Return the modules that each module uses."""
        found: dict[Module, set[Module]] = {}
        for module, code in self.code.items():
            # What is passed on is used by those who take it.
            own = re.sub(r"\bpub(?:\([^)]*\))?\s+use\s+[^;]+;", " ", code)
            paths = [path for tree in USE.findall(own) for path, _ in leaves(tree)]
            rest = USE.sub(" ", own)
            paths += _PATH.findall(rest)
            # Modules below, as the tables of macros name them.
            children = _CHILD.finditer(rest)
            paths += [path[0] for path in children if (*module, path[1]) in self.code]
            passed = self._names[module]
            body = USE.sub(" ", code)
            # A name that is passed on and used in the module itself.
            named = ((name, path) for name, path in passed.items() if name != "*")
            paths += [path for name, path in named if re.search(rf"\b{name}\b", body)]
            targets = (self._target(module, path) for path in paths)
            found[module] = {target for target in targets if target is not None} - {module}
        return found

    def _target(self, module: Module, path: str, depth: int = 0) -> Module | None:
        """Return the module that defines the last name of ``path`` as ``module`` writes it."""
        parts = path.removesuffix("::*").split("::")
        first = parts[0].removeprefix("$")
        if first == "crate":
            at: Module = ()
        elif first == "self":
            at = module
        elif first == "super":
            at = module[:-1]
        elif (*module, first) in self.code:
            at, parts = module, ["self", *parts]
        else:
            return None
        parts = parts[1:]
        while parts and parts[0] == "super":
            at, parts = at[:-1], parts[1:]
        while parts and (*at, parts[0]) in self.code:
            at, parts = (*at, parts[0]), parts[1:]
        if parts and depth < 8 and (further := self._names.get(at, {}).get(parts[0])):
            return self._target(at, further, depth + 1) or at
        return at if at in self.code else None


def circles(uses: Mapping[Module, set[Module]]) -> list[list[Module]]:
    """Return the sets of modules that all use one another, directly or not; largest first."""
    order: list[Module] = []
    seen: set[Module] = set()
    for root in sorted(uses):
        stack = [(root, iter(sorted(uses[root])))] if root not in seen else []
        seen.add(root)
        while stack:
            module, rest = stack[-1]
            following = next((near for near in rest if near in uses and near not in seen), None)
            if following is None:
                order.append(module)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(sorted(uses[following]))))
    users: dict[Module, set[Module]] = {module: set() for module in uses}
    for module, used in uses.items():
        for near in used & users.keys():
            users[near].add(module)
    found: list[list[Module]] = []
    seen = set()
    for root in reversed(order):
        component, waiting = [], [root] if root not in seen else []
        seen.add(root)
        while waiting:
            module = waiting.pop()
            component.append(module)
            fresh = users[module] - seen
            seen |= fresh
            waiting += sorted(fresh)
        if len(component) > 1:
            found.append(sorted(component))
    return sorted(found, key=lambda component: (-len(component), component))
