"""One style for every figure: sizes, a palette that colour-blind readers can tell apart, SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

COLOURS = {
    "blue": "#2166ac",
    "orange": "#d9600f",
    "green": "#1b7f5c",
    "purple": "#7b5aa6",
    "red": "#b2182b",
    "sky": "#5aa9d6",
    "ink": "#1f2933",
    "grey": "#7b8794",
    "pink": "#cc4c9b",
    "pale": "#cbd2d9",
    "paper": "#ffffff",
}
"""Told apart by colour-blind readers; figures also differ by marker or by label."""

SEQUENCE = ("#0b3c6f", "#2b7bba", "#4fb0a5", "#e8a33d")
"""Four steps of one quantity, dark to light."""

WIDTH_IN = 7.4
"""The width of a figure; the page scales it to its column."""

_RC: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "axes.labelsize": 8.5,
    "axes.labelcolor": COLOURS["ink"],
    "axes.edgecolor": COLOURS["grey"],
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e4e7eb",
    "grid.linewidth": 0.6,
    "xtick.color": COLOURS["grey"],
    "ytick.color": COLOURS["grey"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "legend.handlelength": 1.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 5.0,
    "text.color": COLOURS["ink"],
    "figure.facecolor": COLOURS["paper"],
    "savefig.facecolor": COLOURS["paper"],
    "axes.unicode_minus": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "ackclock",
    "path.simplify": True,
}

_FONT = re.compile(r"'DejaVu Sans'(?:, [^;\"]*)?")


@contextmanager
def styled() -> Generator[None]:
    """Draw in the style within this context, whatever the process's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        for name, value in _RC.items():
            mpl.rcParams[name] = value  # type: ignore[index]
        yield


def figure(height_in: float, rows: int = 1, columns: int = 1, **grid: Any) -> tuple[Figure, Any]:
    """Return a figure of the standard width and its axes, as ``pyplot.subplots`` would."""
    made = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    made.get_layout_engine().set(w_pad=0.06, h_pad=0.06, wspace=0.04, hspace=0.05)  # type: ignore[union-attr, call-arg]
    return made, made.subplots(rows, columns, **grid)


def to_svg(made: Figure, key: str, *, title: str = "", description: str = "") -> str:
    """Return a figure as an SVG element for a page: no date, no version, no outside reference.

    Equal figures give equal bytes. Identifiers carry ``key``, so that many figures share a page;
    text stays text, in the page's font if it sets ``--figure-font``.
    """
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": f"ackclock-{key}"}):
        FigureCanvasSVG(made)
        made.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = _FONT.sub('var(--figure-font, "DejaVu Sans", sans-serif)'.replace('"', "'"), text)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', text)
    text = re.sub(r'(xlink:href|href)="#([^"]+)"', rf'\1="#{key}-\2"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", text)
    head, body = text.split(">", 1)
    head = re.sub(r' (width|height)="[^"]*pt"', "", head)
    names = [name for name, content in (("title", title), ("desc", description)) if content]
    labels = " ".join(f"{key}-{name}" for name in names)
    inside = "".join(
        f'<{name} id="{key}-{name}">{_escape(content)}</{name}>'
        for name, content in (("title", title), ("desc", description))
        if content
    )
    head += f' role="img" aria-labelledby="{labels}"' if labels else ' role="img"'
    return f"{head}>{inside}{body}".strip() + "\n"


def to_svg_file(made: Figure, key: str) -> str:
    """Return a figure as a file of its own, in a font that every machine has."""
    font = "var(--figure-font, 'DejaVu Sans', sans-serif)"
    return to_svg(made, key).replace(font, "sans-serif")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
