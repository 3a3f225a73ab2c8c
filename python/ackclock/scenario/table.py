"""Tables of a scenario file, as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Self, cast

from ackclock.base.nearest import nearest_first

__all__ = ["Table", "WrappedTable", "WrappedValue", "each", "key", "one_of", "pairs"]


def key(
    *,
    default: Any = MISSING,
    name: str | None = None,
    read: Callable[[Any], Any] | None = None,
    always: bool = False,
    names: tuple[str, str] | None = None,
) -> Any:
    """Return a field that stands in a file under ``name`` and is read back by ``read``.

    With ``names`` it is a sequence of pairs, which are tables of these two keys in a file.
    """
    metadata = {"name": name, "read": read, "always": always, "names": names}
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def of_type(value: object) -> str:
    """Return the type of a value for a refusal: ``a str``, ``an int``, ``None``."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _to_plain(value: object) -> object:
    if isinstance(value, Table):
        return value.to_dict()
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        # The pictures of a film are tens of thousands of numbers.
        if _PLAIN.issuperset(map(type, items)):
            return list(items)
        return [_to_plain(item) for item in items]
    return value


_PLAIN = frozenset((int, float, str))

#: The values of a list, and the letters of a text, that are printed.
_FIRST_VALUES = 6
_FIRST_LETTERS = 200


def shortened(value: object) -> str:
    """Return a value as text; of a long list its beginning, and how much there is."""
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        first = [shortened(item) for item in items[:_FIRST_VALUES]]
        if len(items) > _FIRST_VALUES:
            return f"({', '.join(first)}, … {len(items):,} in all)"
        return f"({', '.join(first)}{',' if len(items) == 1 else ''})"
    text = repr(value)
    if isinstance(value, str) and len(text) > _FIRST_LETTERS:
        return f"{text[:_FIRST_LETTERS]}… {len(value):,} letters"
    return text


@cache
def _fields(of: type[Table]) -> tuple[Field[Any], ...]:
    return fields(of)


@dataclass(frozen=True)
class Table:
    """A table of a scenario file."""

    KIND: ClassVar[str | None] = None

    def __new__(cls, *_values: object, **named: object) -> Self:
        """Refuse a key that is not known, with the nearest that is.

        Raises
        ------
        TypeError
            The first such key.
        """
        known = [part.name for part in fields(cls)] if named else []
        for name in named:
            if name not in known:
                advice = nearest_first(name, known)
                raise TypeError(f"{cls.__name__}: unknown key `{name}`{advice}")
        return super().__new__(cls)

    def __init_subclass__(cls, **more: Any) -> None:
        """Give every class the text of this one; a dataclass would print all that it holds."""
        super().__init_subclass__(**more)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Table.__repr__

    def __repr__(self) -> str:
        """Return the keys that differ from their defaults; of long lists the beginning."""
        keys = [
            f"{part.name}={shortened(getattr(self, part.name))}"
            for part in fields(self)
            if self._is_told(part, getattr(self, part.name))
        ]
        return f"{type(self).__name__}({', '.join(keys)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the keys that differ from their defaults, as they would stand in a file."""
        table: dict[str, Any] = {} if self.KIND is None else {"kind": self.KIND}
        for part in _fields(type(self)):
            value = getattr(self, part.name)
            if not self._is_told(part, value):
                continue
            table[part.metadata.get("name") or part.name] = self._plain(part, value)
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

    @staticmethod
    def _is_told(part: Field[Any], value: object) -> bool:
        """Return true if a value differs from its key's default, or stands in every file."""
        always = part.metadata.get("always") or part.default is MISSING
        return value is not None and (always or value not in (part.default, ()))

    @staticmethod
    def _plain(part: Field[Any], value: object) -> object:
        if names := part.metadata.get("names"):
            first, second = names
            pairs = cast("Sequence[tuple[object, object]]", value)
            return [{first: one, second: other} for one, other in pairs]
        return _to_plain(value)

    def _freeze(self, *names: str) -> None:
        """Make tuples of sequences, and of pairs in them."""
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name not in names:
                continue
            if value is None:
                if part.default is MISSING:
                    raise self._no_list(part.name, value)
                # As if it were left out.
                object.__setattr__(self, part.name, part.default)
                continue
            if isinstance(value, str | Table | Mapping):
                if getattr(part.metadata.get("read"), "kind", None):
                    raise self._no_list(part.name, value)
                continue
            if not isinstance(value, Iterable):
                raise self._no_list(part.name, value)
            if part.metadata.get("names"):
                value = ((first, second) for first, second in value)
            value = tuple(cast("Iterable[object]", value))
            if kind := getattr(part.metadata.get("read"), "kind", None):
                self._check_items(part.name, value, kind)
            object.__setattr__(self, part.name, value)

    def _no_list(self, name: str, value: object) -> TypeError:
        found = "None" if value is None else f"one {type(value).__name__}"
        return TypeError(
            f"{type(self).__name__}: `{name}` is {found}; write `{name}=[...]`, a list"
        )

    def _check_items(self, name: str, values: Sequence[object], kind: str) -> None:
        for place, value in enumerate(values):
            if not isinstance(value, Table):
                shown = f"ac.{kind}({value!r})" if isinstance(value, str) else f"ac.{kind}(...)"
                raise TypeError(
                    f"{type(self).__name__}: `{name}[{place}]` is {of_type(value)}; write `{shown}`"
                )


@dataclass(frozen=True)
class WrappedTable(Table):
    """A table of one key, whose value is a table: ``{"pareto": {"shape": 1.2, ...}}``."""

    KEY: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file."""
        return {self.KEY: super().to_dict()}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Return the value of a table that the core has checked."""
        return super().from_table(table[cls.KEY])


@dataclass(frozen=True)
class WrappedValue(Table):
    """A table of one key, whose value is that of the only field, or a list of all of them."""

    KEY: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file."""
        values = [self._plain(part, getattr(self, part.name)) for part in fields(self)]
        return {self.KEY: values[0] if len(values) == 1 else values}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Return the value of a table that the core has checked."""
        parts, value = fields(cls), table[cls.KEY]
        values = value if len(parts) > 1 else [value]
        return super().from_table(
            {
                part.metadata.get("name") or part.name: one
                for part, one in zip(parts, values, strict=True)
            }
        )


def each(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a reader of lists whose items ``read`` reads."""

    def read_each(items: Any) -> tuple[Any, ...]:
        return tuple(read(item) for item in items)

    # The class of the items, which a refusal names.
    read_each.kind = getattr(getattr(read, "__self__", None), "__name__", None)  # type: ignore[attr-defined]
    return read_each


def pairs(first: str, second: str) -> Callable[[Any], Any]:
    """Return a reader of lists of tables of two keys, as pairs."""

    def read_pairs(items: Any) -> tuple[tuple[Any, Any], ...]:
        return tuple((item[first], item[second]) for item in items)

    return read_pairs


def one_of(*classes: type[Table]) -> Callable[[Any], Any]:
    """Return a reader of values of which each is a table of one of ``classes``, or no table.

    Tables are told apart by ``kind``, by their only key, or by the keys that they need. Of a list
    each item is read; other values stay.
    """
    by_kind = {one.KIND: one for one in classes}
    needs = [
        (one, {part.metadata.get("name") or part.name for part in fields(one) if _is_needed(part)})
        for one in classes
    ]
    by_key = {one.KEY: one for one in classes if issubclass(one, WrappedTable | WrappedValue)}

    def read(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return tuple(read(item) for item in cast("Sequence[Any]", value))
        if not isinstance(value, Mapping):
            return value
        table = cast("Mapping[str, Any]", value)
        if "kind" in table:
            return (by_kind.get(table["kind"]) or by_kind[None]).from_table(table)
        if len(table) == 1 and (one := by_key.get(next(iter(table)))):
            return one.from_table(table)
        return next(one for one, keys in needs if keys <= table.keys()).from_table(table)

    return read


def _is_needed(part: Field[Any]) -> bool:
    return part.default is MISSING
