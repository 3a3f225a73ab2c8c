"""The common parts of every study's page: first sentence, figures, verdicts, end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic

from ackclock.base.citing import bibtex
from ackclock.base.claims import ClaimResult, R, Study
from ackclock.plots.style import rendered
from ackclock.report.figures import drawing
from ackclock.report.page import Cell, Drawing, Page, Prose, Section, Sheet, Source, Verdicts
from ackclock.studies.framework.found import SearchOutcome, found_in
from ackclock.studies.framework.report import FigureSpec, count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.plots.style import Rendered


@dataclass(frozen=True)
class PageContext(Generic[R]):
    """The context from which a page is written, besides the results."""

    study: Study
    judged: Sequence[ClaimResult]
    drawn: Mapping[str, Figure]
    recipes: Mapping[str, FigureSpec[R]]
    version: str
    quick: bool
    rendered: dict[str, Rendered] = field(default_factory=dict)
    """The figures of the page in every form, once they are drawn."""

    def draw(self, key: str, caption: str, *, label: str | None = None) -> Drawing:
        """Return a figure; ``label`` if it is not the one under which lists have it."""
        label = label or self.study.figures[key]
        made = rendered(self.drawn[key], key, title=label, description=caption)
        self.rendered[key] = made
        return drawing(
            key,
            made,
            self.recipes[key].code(self.study.package),
            label=label,
            caption=caption,
            command=f"ackclock reproduce {self.study.key}/{key} --out DIR"
            + (" --quick" if self.quick else ""),
        )

    def verdict(self, *names: str) -> Verdicts:
        """Return the verdicts on some claims."""
        claims = {claim.id: claim for claim in self.judged}
        return Verdicts(tuple(claims[name] for name in names))

    def page(
        self,
        *,
        title: str,
        subtitle: str,
        banner: str,
        sections: Sequence[Section],
        lead: Sequence[str] = (),
        and_that: str = ".",
        timed: str = "",
    ) -> Page:
        """Return the page.

        ``banner`` is shown of a quick run alone. ``and_that`` ends the sentence on how verdicts
        come about; ``lead`` are paragraphs after it. ``timed`` is what was measured by a clock, and
        is another each time.
        """
        study = self.study.key
        found = found_in(self.study.folder)
        more = () if found is None else (readings_section(found),)
        return Page(
            title=title,
            subtitle=subtitle,
            citation=self.study.citation,
            banner=banner if self.quick else "",
            lead=(
                Prose(
                    f"Of the paper’s {len(self.judged)} statements {count(self.judged)}. Each "
                    f"verdict is computed by tests that were fixed before the first full run"
                    f"{and_that}"
                ),
                *(Prose(text) for text in lead),
            ),
            summary=self.judged,
            sections=(*sections, *more),
            readings={}
            if found is None
            else {row.claim: row.best.words() for row in found.statements},
            footer=(
                Prose(
                    f"Made by Ackclock {self.version} with <code>ackclock reproduce {study}"
                    f"{' --quick' if self.quick else ''}</code>. The same version gives the same "
                    f"bytes{f', but for {timed}' if timed else ''}; what the run cost is in "
                    "<code>data/cost.parquet</code> alone."
                ),
            ),
        )


def cited(page: Page, study: Study, runs: str, *, quick: bool) -> Page:
    """Return a study's page with an entry by which it can be cited: ``runs`` is their digest."""
    entry = bibtex(
        f"study-{study.key}",
        f"{study.title}, run again" + (" with few seeds" if quick else ""),
        runs,
        note=f"Made by \\texttt{{ackclock reproduce {study.key}{' --quick' if quick else ''}}}",
    )
    cite = Section(
        "cite",
        "How to cite",
        [
            Prose(
                "Cite the paper, and these runs of it. The digest is one of every scenario and "
                "seed, of the engine's rules and of the study's code: the same digest gives the "
                "same numbers."
            ),
            Source("BibTeX", entry),
        ],
    )
    return replace(page, sections=(*page.sections, cite))


def readings_section(found: SearchOutcome) -> Section:
    """Return what the search for one reading of all statements has found."""
    choices = tuple(
        (Cell(axis), Cell(label), Cell(found.own[axis])) for axis, label in found.changed.items()
    )
    whole = len(found.statements)
    never = ", ".join(found.never) or "none"
    rows = tuple(
        (
            Cell(row.claim),
            Cell(row.predicate),
            Cell(row.best.with_interval()),
            Cell(row.own.with_interval()),
            Cell(f"{row.held:,} of {row.tried:,}"),
        )
        for row in found.predicates
    )
    return Section(
        "readings",
        "Under other readings of the paper",
        [
            Prose(
                f"{found.tried:,} readings of what the paper leaves open were tried, in "
                f"{found.runs:,} reduced runs of the study. The best of so many fits in part by "
                "chance: its shares are of seeds that the search has not used. The verdicts above "
                "are of the reading that was chosen beforehand. Statements, of "
                f"{whole}, that held under no reading: {never}. The best reading by itself: "
                f"<code>ackclock readings {found.study} --run best --size long --seed 1000</code>."
            ),
            Sheet(
                "best-reading", "The best single reading", f"{found.best}; all else is as here",
                ("choice", "best reading", "here"), choices, text_columns=frozenset({1, 2}),
            ),
            Sheet(
                "reading-tests", "Tests under readings",
                "Fresh seeds with the 95 % interval of the share, and samples of one seed each",
                ("statement", "test", "best reading", "as here", "samples"), rows,
                stubs=2, text_columns=frozenset({2, 3, 4}),
            ),
        ],
    )  # fmt: skip
