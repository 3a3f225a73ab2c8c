"""Reports: one self-contained page, and the data behind every figure."""

from .page import (
    Drawing as Drawing,
    Page as Page,
    Prose as Prose,
    Section as Section,
    Sheet as Sheet,
    Verdicts as Verdicts,
    render as render,
)
from .write import (
    write_report as write_report,
)
