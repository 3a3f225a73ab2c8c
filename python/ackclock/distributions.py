"""Distributions from which a scenario draws a quantity.

Parameters are written as the quantity is: text with a unit, or a number where the quantity is one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ackclock._columns import read_columns
from ackclock._table import Table as _Table

__all__ = [
    "Draw",
    "Exponential",
    "Lognormal",
    "NumberDraw",
    "Pareto",
    "Quantiles",
    "Uniform",
    "Values",
    "Weibull",
    "read_draw",
    "read_quantiles",
]


@dataclass(frozen=True)
class Uniform(_Table):
    """A quantity drawn uniformly between two.

    Attributes
    ----------
    low, high
        The least and the most, such as ``"0 s"`` and ``"1 s"``.
    """

    low: str | float
    high: str | float

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file: ``{"uniform": [low, high]}``."""
        return {"uniform": [self.low, self.high]}


@dataclass(frozen=True)
class Exponential(_Table):
    """A quantity drawn exponentially.

    Attributes
    ----------
    mean
        The mean, such as ``"1 s"``.
    """

    mean: str | float

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file: ``{"exponential": mean}``."""
        return {"exponential": self.mean}


@dataclass(frozen=True)
class Pareto(_Table):
    """A quantity with P(X > x) = (scale / x)^shape from ``scale`` on.

    Attributes
    ----------
    shape
        The exponent; of 1 and less the mean is infinite.
    scale
        The least value, such as ``"2 kB"``.
    """

    shape: float
    scale: str | float

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file: ``{"pareto": {"shape": shape, "scale": scale}}``."""
        return {"pareto": {"shape": self.shape, "scale": self.scale}}


@dataclass(frozen=True)
class Weibull(_Table):
    """A quantity with P(X > x) = exp(-(x / scale)^shape).

    Attributes
    ----------
    shape
        The exponent; 1 is the exponential distribution.
    scale
        The value that 1/e of the draws exceed.
    """

    shape: float
    scale: str | float

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file: ``{"weibull": {"shape": shape, "scale": scale}}``."""
        return {"weibull": {"shape": self.shape, "scale": self.scale}}


@dataclass(frozen=True)
class Lognormal(_Table):
    """A quantity whose logarithm is normal.

    Attributes
    ----------
    median
        The median.
    sigma
        The standard deviation of the natural logarithm.
    """

    median: str | float
    sigma: float

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file: ``{"lognormal": {"median": median, "sigma": sigma}}``."""
        return {"lognormal": {"median": self.median, "sigma": self.sigma}}


@dataclass(frozen=True)
class Values(_Table):
    """One of a list, all equally likely.

    Attributes
    ----------
    values
        The values.
    """

    values: Sequence[str | float]

    def __post_init__(self) -> None:
        """Freeze the sequence."""
        object.__setattr__(self, "values", tuple(self.values))

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file: ``{"values": [...]}``."""
        return {"values": list(self.values)}


@dataclass(frozen=True)
class Quantiles(_Table):
    """A distribution by its quantiles, linear between them.

    Attributes
    ----------
    quantiles
        Pairs (p, value), from p = 0 to p = 1, of which neither falls. Where one p has several
        values the distribution jumps from the first to the last. See
        :func:`ackclock.read_quantiles`.
    """

    quantiles: Sequence[tuple[float, str | float]]

    def __post_init__(self) -> None:
        """Freeze the sequence."""
        object.__setattr__(self, "quantiles", tuple((p, value) for p, value in self.quantiles))

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file: ``{"quantiles": [{"p": p, "value": value}, ...]}``."""
        return {"quantiles": [{"p": p, "value": value} for p, value in self.quantiles]}


def read_quantiles(path: str | os.PathLike[str], *, unit: str) -> Quantiles:
    """Return the distribution that a file describes, as flow sizes are published.

    Each line has a value and the share of draws that are no larger, from 0 to 1 or in percent, in
    this order or, if only the first column ends at 1 or 100, in the other. A column between the two
    is passed over. Blanks, commas, semicolons or tabs separate them; ``#`` begins a comment, and
    the first line may be a heading.

    Parameters
    ----------
    path
        The file.
    unit
        The unit of its values, such as ``"B"``, or ``"1460 B"`` where it counts packets.

    Raises
    ------
    BadInput
        The file cannot be read, or is no such distribution.
    """
    points = read_columns("quantiles", path, unit=unit)["quantiles"]
    return Quantiles([(point["p"], point["value"]) for point in points])


_Distribution: TypeAlias = Uniform | Exponential | Pareto | Weibull | Lognormal | Values | Quantiles

#: A quantity as text, or a distribution of it.
Draw: TypeAlias = str | _Distribution

#: A number, or a distribution of it.
NumberDraw: TypeAlias = float | _Distribution


def read_draw(value: Any) -> Any:
    """Return what stands in a file for a quantity that may be drawn."""
    if not isinstance(value, Mapping):
        return value
    [(kind, parameters)] = value.items()
    return _READERS[kind](parameters)


_READERS: Mapping[str, Callable[[Any], _Distribution]] = {
    "uniform": lambda ends: Uniform(*ends),
    "exponential": Exponential,
    "pareto": lambda of: Pareto(**of),
    "weibull": lambda of: Weibull(**of),
    "lognormal": lambda of: Lognormal(**of),
    "values": Values,
    "quantiles": lambda points: Quantiles([(each["p"], each["value"]) for each in points]),
}
