"""The common parts of every study's page: first sentence, figures, verdicts, end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic

from ackclock.plots.style import rendered
from ackclock.report.figures import drawing
from ackclock.report.page import Drawing, Page, Prose, Section, Verdicts
from ackclock.studies.framework.claims import ClaimResult, R, Study
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
        study = self.study.key
        label = label or self.study.figures[key]
        made = rendered(self.drawn[key], key, title=label, description=caption)
        self.rendered[key] = made
        return drawing(
            key,
            made,
            self.recipes[key].code(study),
            label=label,
            caption=caption,
            command=f"ackclock reproduce {study}/{key} --out DIR"
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
            sections=sections,
            footer=(
                Prose(
                    f"Made by Ackclock {self.version} with <code>ackclock reproduce {study}"
                    f"{' --quick' if self.quick else ''}</code>. The same version gives the same "
                    f"bytes{f', but for {timed}' if timed else ''}; what the run cost is in "
                    "<code>data/cost.parquet</code> alone."
                ),
            ),
        )
