"""From the runs of other ways to begin to their tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from ackclock.base.estimates import estimate


def waits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return mean page times over seeds, and over slow start's of the same seed, with intervals."""
    keys = ["model", "http", "seed"]
    slow = rows.filter(pl.col("startup") == "slow-start").select(
        *keys, pl.col("page_s").alias("slow_s")
    )
    paired = rows.join(slow, on=keys, maintain_order="left").with_columns(
        (pl.col("page_s") / pl.col("slow_s")).alias("share")
    )
    found: list[dict[str, Any]] = []
    for (model, http, startup), here in paired.group_by(
        "model", "http", "startup", maintain_order=True
    ):
        row: dict[str, Any] = {
            "model": model, "http": http, "startup": startup, "pages": int(here["pages"].sum()),
        }  # fmt: skip
        for name in ("page_s", "share"):
            known = estimate(here[name].to_numpy())
            row |= {name: known.mean, f"{name}_ci": known.ci}
        found.append(row)
    return pl.DataFrame(found, infer_schema_length=None)


def compared(response: pl.DataFrame) -> pl.DataFrame:
    """Return for each way to begin the response time of slow start over its own, NewReno beside."""
    keys = ["rtt_s", "size_bytes", "buffer"]
    rows = response.filter(
        pl.col("growth").is_in(["newreno", "rcp", "xcp"]), pl.col("ssthresh_rule") == "unchanged"
    )
    slow = rows.filter(pl.col("startup") == "slow-start").select(
        *keys, pl.col("response_s").alias("slow_s")
    )
    return (
        rows.join(slow, on=keys, maintain_order="left")
        .with_columns((pl.col("slow_s") / pl.col("response_s")).alias("speedup"))
        .select(*keys, "startup", "response_s", "slow_s", "speedup")
    )


def harm(rows: pl.DataFrame) -> pl.DataFrame:
    """Return means over seeds with their 95 % intervals, against the same seed without download.

    ``lost_share`` is what the other flows had less, as a share; ``again`` what they sent again
    more; ``dropped`` the share of the cross-traffic that was dropped, more than without.
    """
    keys = ["others", "seed"]
    none = rows.filter(pl.col("startup") == "none").select(
        *keys,
        pl.col("flows_goodput_bps").alias("none_bps"),
        pl.col("flows_again").alias("none_again"),
        (pl.col("cross_dropped") / pl.col("cross_offered")).alias("none_dropped"),
    )
    paired = (
        rows.filter(pl.col("startup") != "none")
        .join(none, on=keys, maintain_order="left")
        .with_columns(
            ((pl.col("none_bps") - pl.col("flows_goodput_bps")) / pl.col("none_bps")).alias(
                "lost_share"
            ),
            (pl.col("flows_again") - pl.col("none_again")).alias("again"),
            (pl.col("cross_dropped") / pl.col("cross_offered") - pl.col("none_dropped")).alias(
                "dropped"
            ),
        )
    )
    found: list[dict[str, Any]] = []
    for (others, startup, size), here in paired.group_by(
        "others", "startup", "size_bytes", maintain_order=True
    ):
        row: dict[str, Any] = {
            "others": others, "startup": startup, "size_bytes": size, "runs": here.height,
            "ended": here["response_s"].count(),
        }  # fmt: skip
        for name in ("response_s", "lost_share", "again", "dropped"):
            values = here[name].drop_nulls().cast(pl.Float64)
            if name != "response_s" and others == "load" and name != "dropped":
                values = values.head(0)
            known = estimate(values.to_numpy()) if values.len() else None
            row[name] = known.mean if known else None
            row[f"{name}_ci"] = known.ci if known else None
        found.append(row)
    return pl.DataFrame(found, infer_schema_length=None)
