"""The style of Ackclock's figures. Figures are returned, never shown."""

from __future__ import annotations

from ackclock.plots.style import COLOURS, figure, styled, to_svg

__all__ = ["COLOURS", "figure", "styled", "to_svg"]
