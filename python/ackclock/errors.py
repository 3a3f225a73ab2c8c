"""What the package raises for input that cannot be used, and for work that cannot be finished."""

from ackclock._core import BadInput

__all__ = ["BadInput", "Unfinished"]


class Unfinished(RuntimeError):
    """Work that could not be finished, for a reason that is not in its input; one line says which."""
