"""A study's report: one self-contained page, its verdicts, and the data behind every figure."""

from __future__ import annotations

from ackclock.report.page import Drawing, Page, Prose, Section, Sheet, Verdicts, render

__all__ = ["Drawing", "Page", "Prose", "Section", "Sheet", "Verdicts", "render"]
