"""One style for every figure: sizes, a palette that colour-blind readers can tell apart, SVG."""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine

from ackclock.base.errors import BadInput
from ackclock.base.writing import write_file

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

HUES = tuple(
    COLOURS[name] for name in ("blue", "orange", "green", "purple", "red", "sky", "pink", "grey")
)
"""The colours of flows, columns and other things of one kind, in this order."""

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


class Picture(Figure):
    """A figure that shows itself in a notebook, whatever Matplotlib's own settings are there.

    It is a Matplotlib figure in every other way: ``savefig`` writes it as SVG, PDF or PNG.
    """

    def __repr__(self) -> str:
        """Return the titles of its panels, and its size."""
        titles = [axes.get_title(loc="left") or axes.get_title() for axes in self.axes]
        named = "; ".join(title for title in titles if title)
        size = " × ".join(f"{inches:.3g}" for inches in self.get_size_inches())
        return f"<figure of {size} inches{f': {named}' if named else ''}>"

    def _repr_svg_(self) -> str:
        return to_notebook_svg(self)


@contextmanager
def styled() -> Generator[None]:
    """Draw in the style within this context, whatever the process's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        for name, value in _RC.items():
            mpl.rcParams[name] = value  # type: ignore[index]
        yield


def figure(height_in: float, rows: int = 1, columns: int = 1, **grid: Any) -> tuple[Picture, Any]:
    """Return a figure of the standard width and its axes, as ``pyplot.subplots`` would."""
    made = Picture(figsize=(WIDTH_IN, height_in), layout="constrained")
    made.get_layout_engine().set(w_pad=0.06, h_pad=0.06, wspace=0.04, hspace=0.05)  # type: ignore[union-attr, call-arg]
    return made, made.subplots(rows, columns, **grid)


def to_svg(made: Figure, key: str, *, title: str = "", description: str = "") -> str:
    """Return a figure as an SVG element for a page: no date, no version, no outside reference.

    Equal figures give equal bytes. Identifiers carry ``key``, so that many figures share a page;
    text stays text, in the page's font if it sets ``--figure-font``.
    """
    return _labelled(_element(made, key), key, title, description)


def to_svg_file(made: Figure, key: str) -> str:
    """Return a figure as a file of its own, in a font that every machine has."""
    return _alone(_labelled(_element(made, key), key))


def to_notebook_svg(made: Figure) -> str:
    """Return a figure for a notebook: of its own size, and unlike any other of the notebook."""
    text = to_svg_file(made, "figure")
    key = f"figure-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    text = text.replace('id="figure-', f'id="{key}-').replace("#figure-", f"#{key}-")
    wide, high = (round(96 * inches) for inches in made.get_size_inches())
    size = f'width="{wide}" height="{high}" style="max-width: 100%; height: auto"'
    return text.replace("<svg", f"<svg {size}", 1)


@dataclass(frozen=True)
class Rendered:
    """A figure in every form: an element for a page, and files of its own."""

    page: str
    svg: str
    pdf: bytes
    png: bytes


def rendered(made: Figure, key: str, *, title: str = "", description: str = "") -> Rendered:
    """Return a figure in every form, laid out once; see :func:`to_svg`."""
    with laid_out(made):
        element = _element(made, key)
        page, alone = _labelled(element, key, title, description), _labelled(element, key)
        return Rendered(page, _alone(alone), to_pdf(made), to_png(made))


def _alone(text: str) -> str:
    font = "var(--figure-font, 'DejaVu Sans', sans-serif)"
    return text.replace(font, "sans-serif")


def _element(made: Figure, key: str) -> str:
    """Return the SVG element of a figure, with identifiers of its own."""
    text = _drawn(made, "svg", f"ackclock-{key}").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = _FONT.sub('var(--figure-font, "DejaVu Sans", sans-serif)'.replace('"', "'"), text)
    text = light(text)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', text)
    text = re.sub(r'(xlink:href|href)="#([^"]+)"', rf'\1="#{key}-\2"', text)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", text)


_PLACES = re.compile(r' (?:d|x|y|width|height)="[^"]*"')
_LONG = re.compile(r"-?\d+\.\d{3,}")
_LEVEL = re.compile(r' transform="rotate\(-0 [^"]*"')


def light(text: str) -> str:
    """Return an SVG with places in hundredths of a point, and without indentation."""
    text = _PLACES.sub(lambda it: _LONG.sub(lambda n: f"{float(n[0]):.2f}", it[0]), text)
    return re.sub(r"\n +<", "\n<", _LEVEL.sub("", text))


def _labelled(text: str, key: str, title: str = "", description: str = "") -> str:
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


def to_pdf(made: Figure) -> bytes:
    """Return a figure as a PDF without a date: equal figures give equal bytes."""
    return _drawn(made, "pdf")


def to_png(made: Figure) -> bytes:
    """Return a figure as a PNG, sharp enough for a slide."""
    return _drawn(made, "png")


def save(made: Figure, path: str | os.PathLike[str], key: str = "figure") -> None:
    """Write a figure as SVG, PDF or PNG, whichever the name of the file ends with.

    Equal figures give equal bytes, which ``savefig`` does not promise. ``key`` begins the
    identifiers of an SVG.

    Raises
    ------
    BadInput
        The name has another end, or the file cannot be written.
    """
    kind = Path(path).suffix.lower()
    if kind == ".svg":
        write_file(path, to_svg_file(made, key))
    elif kind == ".pdf":
        write_file(path, to_pdf(made))
    elif kind == ".png":
        write_file(path, to_png(made))
    else:
        raise BadInput(f"{os.fspath(path)}: expected a name that ends in .svg, .pdf or .png")


_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}
_CANVAS = {"svg": FigureCanvasSVG, "pdf": FigureCanvasPdf, "png": FigureCanvasAgg}


@contextmanager
def laid_out(made: Figure) -> Generator[None]:
    """Lay a figure out once for whatever it is drawn as within this context.

    Texts have other widths in each format; with a layout of its own each would look otherwise.
    """
    engine = made.get_layout_engine()
    if engine is None or isinstance(engine, PlaceHolderLayoutEngine):
        yield
        return
    FigureCanvasAgg(made)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        made.draw_without_rendering()
    made.set_layout_engine("none")
    try:
        yield
    finally:
        made.set_layout_engine(engine)


#: The most marks of a layer that are shapes of a vector file: each takes 150 bytes of an SVG.
MOST_MARKS = 500


@contextmanager
def _dense_as_raster(made: Figure) -> Generator[None]:
    """Have layers of marks without lines be pictures inside a vector file if they are many."""
    dense: list[Any] = [
        line
        for axes in made.axes
        for line in axes.lines
        if line.get_linestyle() == "None" and len(line.get_xdata()) > MOST_MARKS  # type: ignore[arg-type]
    ]
    dense += [
        marks
        for axes in made.axes
        for marks in axes.collections
        if isinstance(marks, PathCollection) and len(marks.get_offsets()) > MOST_MARKS  # type: ignore[arg-type]
    ]
    dense = [layer for layer in dense if not layer.get_rasterized()]
    for layer in dense:
        layer.set_rasterized(True)
    try:
        yield
    finally:
        for layer in dense:
            layer.set_rasterized(False)


def _drawn(made: Figure, kind: Literal["svg", "pdf", "png"], salt: str = "ackclock") -> bytes:
    buffer = io.BytesIO()
    with laid_out(made), mpl.rc_context(), warnings.catch_warnings():
        # The name of a flow may have letters that the font lacks by which it is measured.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        mpl.rcParams["svg.fonttype"] = "none"
        mpl.rcParams["svg.hashsalt"] = salt
        mpl.rcParams["pdf.fonttype"] = 42
        _CANVAS[kind](made)
        with _dense_as_raster(made):
            # The resolution of the layers of a vector file that are rasters in it.
            dpi = 200 if kind == "png" else 150
            made.savefig(buffer, format=kind, dpi=dpi, metadata=_METADATA[kind])
    return buffer.getvalue()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
