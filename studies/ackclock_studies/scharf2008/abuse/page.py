"""The table of requests that nobody means, and of requests that nobody checks."""

from __future__ import annotations

import polars as pl

from ackclock.base.estimates import estimate
from ackclock.report.page import Cell, Sheet
from ackclock_studies.scharf2008.abuse.scenarios import ALL
from ackclock_studies.scharf2008.analysis import Results

_CASE = {"quiet": "alone", "flood": "beside a flood", "crowd": "many"}


def sheet(results: Results) -> Sheet:
    """Return what the honest have of it."""
    rows = results["abuse"]
    found = []
    for (case, name, startup), here in rows.group_by(
        "case", "router", "startup", maintain_order=True
    ):
        asks = startup == "quick-start"
        response = estimate(here["response_s"].to_numpy())
        late = estimate(here["response_p95_s"].to_numpy())
        found.append(
            (
                Cell(_CASE[str(case)]),
                Cell(str(name) if asks else "–"),
                Cell("Quick-Start" if asks else "slow start"),
                Cell(_share(here["whole"]) if asks and name != ALL else "–"),
                Cell(_share(here["refused"]) if asks and name != ALL else "–"),
                Cell(f"{response.mean:.2f} ± {response.ci or 0:.2f}"),
                Cell(f"{late.mean:.2f} ± {late.ci or 0:.2f}"),
                Cell(f"{100 * estimate(here['dropped'].to_numpy()).mean:.2f} %"),
            )
        )
    return Sheet(
        key="abuse",
        label="Requests that nobody means, and requests that nobody checks",
        caption=(
            "Downloads of 1 MB at 100 ms, requests for 81.92 Mbit/s. Alone and beside the flood: "
            "one each two seconds, no losses; many: 48 Mbit/s of them, buffers of 1 BDP. Means "
            "over seeds of the mean and of the 95th percentile, and their 95 % intervals."
        ),
        heads=(
            "downloads", "router 1", "sender", "approved whole", "refused", "response, s",
            "95th, s", "dropped",
        ),
        rows=tuple(found),
        data=("abuse",),
    )  # fmt: skip


def _share(column: pl.Series) -> str:
    return f"{100 * estimate(column.to_numpy()).mean:.0f} %"
