"""A scenario as text: what the generated class :class:`ackclock.Scenario` has beside its keys."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from ackclock import _core
from ackclock.base.errors import BadInput, MissingPackageError
from ackclock.scenario.table import Table, of_type

__all__ = ["ScenarioText"]


@dataclass(frozen=True)
class ScenarioText(Table):
    """A scenario that is read from text and written as text."""

    def _freeze(self, *names: str) -> None:
        """Make tuples of sequences, and name the flows that have no name."""
        super()._freeze(*names)
        flows = tuple(
            flow if flow.name is not None else replace(flow, name=f"flow-{place}")
            for place, flow in enumerate(vars(self)["flows"], start=1)
        )
        object.__setattr__(self, "flows", flows)

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Return the value of a table that the core has checked."""
        return super().from_table({"flow": (), **table})

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a scenario file, TOML or JSON.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Scenario
            The scenario.

        Raises
        ------
        BadInput
            The file cannot be read, or the first key that cannot be used.
        """
        return cls.from_table(json.loads(_core.load_scenario(os.fspath(path))))

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Self:
        """Return the scenario that ``table`` describes, with the keys of a file.

        Raises
        ------
        BadInput
            The first key that cannot be used.
        """
        return cls.from_table(json.loads(_core.check_scenario(_to_json(table))))

    def to_json(self) -> str:
        """Return the scenario as JSON text.

        Raises
        ------
        BadInput
            A number is not finite, or a value has no place in a scenario.
        """
        return _to_json(self.to_dict())

    def to_toml(self) -> str:
        """Return the scenario as the text of a scenario file."""
        return _to_toml(self.to_dict())

    def _repr_html_(self) -> str | None:
        try:
            from ackclock.report.notebook import scenario_html  # noqa: PLC0415 - it draws
        except MissingPackageError:
            # A notebook then shows the text.
            return None
        return scenario_html(cast("Any", self))

    def check(self) -> Self:
        """Return the scenario as the core reads it, every name in its canonical form.

        Raises
        ------
        BadInput
            The first key that cannot be used.
        """
        return self.from_dict(self.to_dict())


#: The core takes less; of 4300 digits and more Python makes no text.
_MOST_BITS = 1024
_LONG_NUMBER = re.compile(r"\d{300}")
#: Every tenth letter of such a number is a digit, too: it is looked for first, in a tenth of the
#: time.
_TENTHS = re.compile(r"\d{29}")


def _to_json(table: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(table, allow_nan=False)
    except (TypeError, ValueError) as error:
        key, why = _unwritten(table, "") or ("scenario", str(error))
        raise BadInput(f"{key}: {why}") from None
    if _TENTHS.search(text[::10]) and _LONG_NUMBER.search(text):
        found = _unwritten(table, "")
        if found:
            raise BadInput(": ".join(found))
    return text


def _unwritten(value: object, key: str) -> tuple[str, str] | None:
    """Return the first key whose value has no place in a scenario, and why."""
    if isinstance(value, Mapping):
        items = [(f"{key}.{name}" if key else str(name), one) for name, one in value.items()]
    elif isinstance(value, list | tuple):
        items = [(f"{key}[{place}]", one) for place, one in enumerate(value)]
    elif isinstance(value, float) and not math.isfinite(value):
        return key, f"found {value}, expected a finite number"
    elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return key, "found a whole number of more digits than any key takes"
    elif value is None or isinstance(value, str | int | float):
        return None
    else:
        return key, f"found {of_type(value)}, which has no place in a scenario"
    return next((found for name, one in items if (found := _unwritten(one, name))), None)


def _to_toml(table: Mapping[str, Any]) -> str:
    lines: list[str] = []
    tables: list[tuple[str, Mapping[str, Any]]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            tables.append((f"[{key}]", cast("Mapping[str, Any]", value)))
        elif isinstance(value, list):
            tables += [(f"[[{key}]]", item) for item in cast("list[Mapping[str, Any]]", value)]
        else:
            lines.append(f"{key} = {_toml_value(value)}")
    for header, body in tables:
        lines += ["", header, *(f"{key} = {_toml_value(value)}" for key, value in body.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: object) -> str:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return "{ " + ", ".join(f"{key} = {_toml_value(item)}" for key, item in items) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(item) for item in cast("list[object]", value)) + "]"
    # Strings, integers, finite numbers and booleans are written alike in JSON and TOML, but for
    # the characters beyond the basic plane, which JSON would write as two halves, and DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
