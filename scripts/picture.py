"""Draw the README's picture from the data of a report: python scripts/picture.py REPORT."""

import sys
from pathlib import Path

import polars as pl

from ackclock.plots.style import to_svg
from ackclock.studies.altman1997 import figures

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Read the report's cases and write docs/images/altman-cases.svg."""
    data = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "report/altman1997") / "data"
    made = figures.table(
        pl.read_parquet(data / "cases.parquet"), pl.read_parquet(data / "published.parquet"), 1
    )
    made.patch.set_facecolor("white")
    svg = to_svg(
        made,
        "readme",
        title="Table 1 of Altman et al.: published, theory, simulation",
        description="Throughput over what the path leaves free, and round-trip time",
    )
    (ROOT / "docs/images/altman-cases.svg").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n' + svg, encoding="utf-8"
    )


if __name__ == "__main__":
    main()
