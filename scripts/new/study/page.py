"""Text of the report, every number from the results."""

from __future__ import annotations

from ackclock.report.page import Page, Prose, Section
from ackclock.studies.framework.page import PageContext
from ackclock_studies.probe.analysis import Results


def build(results: Results, context: PageContext[Results]) -> Page:
    """Return the report."""
    seeds = results.plan.seeds
    return context.page(
        title="TODO the title of the report",
        subtitle="TODO one sentence that says what was measured.",
        banner=f"{seeds} seeds and shorter runs. A verdict may differ from that of the full study.",
        sections=(
            Section(
                "utilisation",
                "TODO the question",
                (
                    Prose("TODO what the paper says, and what was simulated."),
                    context.draw("utilisation", f"The mean over {seeds} seeds."),
                    context.verdict("probe-full"),
                ),
            ),
        ),
    )
