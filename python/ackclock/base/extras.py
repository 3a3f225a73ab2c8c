"""Packages that are not installed with Ackclock, and the extra that each comes with."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec

from ackclock.base.errors import MissingPackageError

__all__ = ["EXTRAS", "REPORT", "missing", "need", "needed"]

#: The extra that a user is told of, by the package that is missing (pyproject.toml, decision 34).
EXTRAS = {
    "matplotlib": "plots",
    "numpy": "plots",
    "jinja2": "report",
    "polars": "polars",
    "pyarrow": "pandas",
    "pandas": "pandas",
    "duckdb": "duckdb",
    "distributed": "dask",
    "dask_jobqueue": "slurm",
    "gymnasium": "rl",
    "pettingzoo": "rl",
    "fastapi": "serve",
    "uvicorn": "serve",
    "websockets": "serve",
    "anywidget": "notebook",
}

#: The packages of reports, and of studies.
REPORT = ("matplotlib", "numpy", "polars", "jinja2", "pyarrow")


def missing(clause: str, package: str, extra: str | None = None) -> MissingPackageError:
    """Return the error that says in one line which extra to install.

    Parameters
    ----------
    clause
        The part of Ackclock, and the verb: ``"plots need"``.
    package
        The package that is missing.
    extra
        The extra; default: that of the package alone.
    """
    extra = extra or EXTRAS[package]
    return MissingPackageError(f"{clause} {package}: pip install 'ackclock[{extra}]'", name=package)


def need(clause: str, *packages: str, extra: str) -> None:
    """Raise ``MissingPackageError`` unless all packages are installed."""
    with needed(clause, *packages, extra=extra):
        pass


@contextmanager
def needed(clause: str, *first: str, extra: str | None = None) -> Generator[None]:
    """Have an import of a package that is not installed raise ``MissingPackageError``.

    The packages ``first`` are looked for before the import.
    """
    for package in first:
        if find_spec(package) is None:
            raise missing(clause, package, extra)
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise missing(clause, package, extra) from None
