"""Tables of a scenario file, as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self, cast

__all__ = ["Table", "each", "key"]


def key(
    *,
    default: Any = MISSING,
    name: str | None = None,
    read: Callable[[Any], Any] | None = None,
    always: bool = False,
) -> Any:
    """Return a field that stands in a file under ``name`` and is read back by ``read``."""
    metadata = {"name": name, "read": read, "always": always}
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def _to_plain(value: object) -> object:
    if isinstance(value, Table):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_to_plain(item) for item in cast("tuple[object, ...]", value)]
    return value


@dataclass(frozen=True)
class Table:
    """A table of a scenario file."""

    KIND: ClassVar[str | None] = None

    def to_dict(self) -> dict[str, Any]:
        """Return the keys that differ from their defaults, as they would stand in a file."""
        table: dict[str, Any] = {} if self.KIND is None else {"kind": self.KIND}
        for part in fields(self):
            value = getattr(self, part.name)
            if value is None or (value == part.default and not part.metadata.get("always")):
                continue
            if value == () and not part.metadata.get("always"):
                continue
            table[part.metadata.get("name") or part.name] = _to_plain(value)
        return table

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Return the value of a table that the core has checked."""
        values: dict[str, Any] = {}
        for part in fields(cls):
            name = part.metadata.get("name") or part.name
            if name in table:
                read = part.metadata.get("read")
                values[part.name] = read(table[name]) if read else table[name]
        return cls(**values)


def each(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read_each(items: Any) -> tuple[Any, ...]:
        return tuple(read(item) for item in items)

    return read_each
