"""What the package raises for input that cannot be used."""

from ackclock._core import BadInput

__all__ = ["BadInput"]
