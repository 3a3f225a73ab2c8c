"""Exceptions of the package, for input that cannot be used and for work that cannot be finished."""

from ackclock._core import BadInput

__all__ = ["BadInput", "MissingPackageError", "UnfinishedError"]


class MissingPackageError(ImportError):
    """A package that this part of Ackclock needs is not installed; the text names the extra."""


class UnfinishedError(RuntimeError):
    """Work that could not be finished, for a reason that is not in its input, said in one line."""
