"""Options of plain types: read without pydantic, and shown in plain words.

Typer asks each parameter for what turns text into a value, and makes that of pydantic unless it is
there already, which takes as long as the rest of a start. Numbers and whatever is not known here
stay with pydantic. In ``--help`` Typer shows types of Python, such as ``<list[Path]>``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin

import typer

from ackclock.base.nearest import nearest_first

__all__ = ["read_plainly"]


class _Plain:
    """The reading of a parameter's text as its value."""

    def __init__(self, read: Callable[[str], Any]) -> None:
        self._read = read

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value, of a parameter that is given several times a list of them."""
        try:
            if isinstance(value, list | tuple):
                return [self._read(each) for each in cast("Sequence[Any]", value)]
            return self._read(value)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from error


class _Given:
    """A plain value that is made when a value is given."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value; none given is None, or no values."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        return self._make().coerce(value, param=param, ctx=ctx)


def read_plainly(command: Any) -> None:
    """Let a command, and those below it, read their parameters of plain types themselves."""
    parameters_of = command.get_params

    def get_params(ctx: Any) -> list[Any]:
        parameters = parameters_of(ctx)
        for parameter in parameters:
            # Each once: the option --help is made when it is first asked for.
            if hasattr(parameter, "type_descriptor") and "get_runtime_param" not in vars(parameter):
                _let_read(parameter)
                _let_show(parameter)
        return parameters

    command.get_params = get_params
    for each in getattr(command, "commands", {}).values():
        read_plainly(each)


def _let_read(parameter: Any) -> None:
    plain = _plain(parameter.type_descriptor)
    given = _Given(parameter.get_runtime_param if plain is None else lambda: plain)
    parameter.get_runtime_param = lambda: given


def _let_show(parameter: Any) -> None:
    """Let ``--help`` show a word for the value, and none for a switch."""
    if parameter.metavar is None:
        parameter.metavar = _word(parameter)
    shown = parameter.metavar
    if parameter.param_type_name == "argument":
        parameter.display_type_rich = _nothing
        optional = not parameter.required and not shown.startswith("[")
        parameter._usage_display_name = lambda: f"[{shown}]" if optional else shown  # noqa: SLF001
    # "[x>=1]".
    parameter._get_number_range_help_str = lambda: None  # noqa: SLF001


def _nothing(ctx: object) -> None:
    """Return no text: an argument is shown by its name."""


def _word(parameter: Any) -> str:
    kind = parameter.type_descriptor.annotation
    if parameter.param_type_name == "argument":
        return parameter.name.upper() + ("" if parameter.nargs == 1 else "...")
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    return _WORDS.get(kind, "TEXT")


#: The values of options by their types; a switch has none.
_WORDS: dict[Any, str] = {bool: "", int: "INTEGER", float: "NUMBER", Path: "PATH"}


def _plain(descriptor: Any) -> _Plain | None:
    info, kind = descriptor.parameter_info, descriptor.annotation
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    if info.parser is not None:
        return _Plain(info.parser)
    if get_origin(kind) is Literal:
        return _Plain(_one_of(get_args(kind)))
    if kind is str:
        return _Plain(str)
    asks = info.exists or info.resolve_path or info.allow_dash or info.path_type is not None
    return _Plain(_path) if kind is Path and not asks else None


def _path(text: str) -> Path:
    # Of nothing `Path` makes the current folder.
    if not text:
        raise ValueError("the name is empty, expected a path")
    return Path(text)


def _one_of(words: tuple[str, ...]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"unknown word `{text}`{nearest_first(text, words)}")
        return text

    return read
