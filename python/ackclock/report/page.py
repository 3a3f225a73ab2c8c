"""The page: sections of prose, figures, tables and verdicts, without outside resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

if TYPE_CHECKING:
    from ackclock.base.claims import ClaimResult


@dataclass(frozen=True)
class Prose:
    """A paragraph. ``text`` is HTML of our own, never of a file or a user."""

    kind: ClassVar[str] = "prose"
    text: str

    @property
    def html(self) -> Markup:
        """The paragraph as markup."""
        return Markup(self.text)  # noqa: S704 - written in the study's code


@dataclass(frozen=True)
class Drawing:
    """A figure: its SVG, its caption, and how it is made again."""

    kind: ClassVar[str] = "drawing"
    key: str
    label: str
    caption: str
    svg: str
    command: str = ""
    python: str = ""
    data: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    """Links to the figure's own files: a word, and the way from the page."""

    @property
    def markup(self) -> Markup:
        """The drawing as markup."""
        return Markup(self.svg)  # noqa: S704 - made by our own plots


@dataclass(frozen=True)
class Cell:
    """A table's cell: its text, and whether it is marked good or bad (in words too)."""

    text: str
    mark: str = ""
    title: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table: groups of columns over a row of heads, the first ``stubs`` columns being labels."""

    kind: ClassVar[str] = "sheet"
    key: str
    label: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    groups: tuple[tuple[str, int], ...] = ()
    stubs: int = 1
    text_columns: frozenset[int] = frozenset()
    data: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """A text that is shown as it is, folded away: a scenario file."""

    kind: ClassVar[str] = "source"
    label: str
    text: str


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on some claims, each with its predicates."""

    kind: ClassVar[str] = "verdicts"
    claims: tuple[ClaimResult, ...]


Block = Prose | Drawing | Sheet | Source | Verdicts


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    anchor: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A report."""

    title: str
    subtitle: str
    citation: str
    banner: str
    lead: Sequence[Prose]
    summary: Sequence[ClaimResult]
    sections: Sequence[Section]
    footer: Sequence[Prose] = field(default_factory=tuple)
    banner_word: str = "Quick version."
    kicker: str = "a published study, run again"
    """The kind of the report, above its title."""
    readings: Mapping[str, str] = field(default_factory=dict[str, str])
    """The runs in which a claim holds under the best single reading, by the claim's id."""
    linux: Mapping[str, str] = field(default_factory=dict[str, str])
    """The verdicts of Linux in virtual time, by the claim's id."""


SYMBOLS = {"reproduced": "✓", "not reproduced": "✗", "under-specified": "≈"}


def pill(verdict: str) -> Markup:
    """Return a verdict as a mark that does not rest on colour."""
    name = verdict.replace(" ", "-")
    return Markup('<span class="pill {}"><span aria-hidden="true">{}</span> {}</span>').format(
        name, SYMBOLS[verdict], verdict
    )


def where(page: Page) -> dict[str, str]:
    """Return the anchor of the section that judges each claim."""
    return {
        claim.id: section.anchor
        for section in page.sections
        for block in section.blocks
        if isinstance(block, Verdicts)
        for claim in block.claims
    }


def render(page: Page) -> str:
    """Return the page as HTML: styles and figures inside, no script, no outside resource."""
    environment = Environment(
        loader=PackageLoader("ackclock.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.get_template("page.html.j2")
    return template.render(page=page, where=where(page), pill=pill)
