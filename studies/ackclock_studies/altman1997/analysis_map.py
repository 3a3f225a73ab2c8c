"""Theory against simulation at random points: the errors, where they are large, and who knew."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from ackclock.studies.framework.reduce import mean_of
from ackclock_studies.altman1997.runs import predict
from ackclock_studies.altman1997.scenarios import Plan, random_points

THP_LIMIT = 0.11
RTT_LIMIT = 0.075
"""The paper's own bounds on the relative error of its model."""

COORDINATES = {
    "beta": "β",
    "lambda_over_mu": "λ/μ",
    "bw_in_over_free": "source link/(μ − λ)",
    "beta_over_critical": "β/critical β",
    "w_max_packets": "W max",
}
"""What a region of bad match may be bounded by."""

PAPER_BOX = {
    "beta": (0.15, 0.88),
    "lambda_over_mu": (0.05, 0.37),
    "bw_in_over_free": (1.8, 16.0),
}
"""The ranges that the nine cases of table 1 span; and faster source links, which change nothing."""


def map_points(plan: Plan, seeds: pl.DataFrame) -> pl.DataFrame:
    """Return theory against simulation, a row a point and kind of exogenous traffic."""
    points = random_points(plan.map_points, plan.map_seeds)
    answers = predict([point.path for point in points])
    theory = pl.DataFrame(
        [
            {
                "point": point.index,
                "beta": point.path.beta,
                "critical_beta": point.path.critical_beta,
                "beta_over_critical": point.path.beta / point.path.critical_beta,
                "lambda_over_mu": point.path.lambda_pps / point.path.mu_pps,
                "bw_in_over_free": point.path.bw_in_pps / point.path.free_pps,
                "w_max_packets": answer.details["w_max"],
                "theory_thp_pps": answer.throughput_pps,
                "theory_rtt_s": answer.rtt_s,
                "theory_slow_starts_per_cycle": float(answer.slow_starts_per_cycle),
                "valid": answer.validity.ok,
                "reasons": " ".join(answer.validity.reasons),
            }
            for point, answer in zip(points, answers, strict=True)
        ]
    )
    keys = ["point", "exogenous", "buffer_packets", "bw_in_pps", "mu_pps", "lambda_pps"]
    keys += ["tau1_s", "tau2_s"]
    means = seeds.group_by(keys, maintain_order=True).agg(
        pl.len().alias("seeds"),
        mean_of(pl.col("thp_pps", "rtt_s", "slow_starts_per_cycle", "exogenous_loss")),
        (pl.col("congestion_events") - pl.col("congestion_events_in_slow_start"))
        .sum()
        .alias("cycles"),
    )
    joined = means.join(theory, on="point", maintain_order="left")
    return joined.with_columns(
        (pl.col("theory_thp_pps") / pl.col("thp_pps") - 1).alias("thp_error"),
        (pl.col("theory_rtt_s") / pl.col("rtt_s") - 1).alias("rtt_error"),
    )


def within(frame: pl.DataFrame, column: str, limit: float) -> float:
    """Return the share of a frame's rows whose error is within a limit."""
    if frame.height == 0:
        return math.nan
    return frame.filter(pl.col(column).abs() <= limit).height / frame.height


def in_paper_box() -> pl.Expr:
    """Return True for a point in the ranges that the paper's good cases span."""
    return pl.all_horizontal(
        [pl.col(name).is_between(low, high) for name, (low, high) in PAPER_BOX.items()]
    )


def map_shares(points: pl.DataFrame) -> pl.DataFrame:
    """Return the share of points within the paper's bounds, in named regions."""
    fast = pl.col("bw_in_over_free") >= 1.1
    few = pl.col("lambda_over_mu") <= 0.5
    off = (pl.col("beta_over_critical") - 1).abs() >= 0.2
    regions: list[tuple[str, pl.Expr]] = [
        ("all points", pl.lit(value=True)),
        ("called valid by the model", pl.col("valid")),
        ("called doubtful by the model", ~pl.col("valid")),
        ("ranges of table 1", in_paper_box()),
        ("source link below μ − λ", pl.col("bw_in_over_free") < 1),
        ("source link 1 to 1.1 (μ − λ)", pl.col("bw_in_over_free").is_between(1, 1.1)),
        ("λ/μ above 0.5, fast source link", ~few & fast),
        ("β within 20 % of critical, λ/μ to 0.5, fast source link", ~off & few & fast),
        ("β above critical by 20 %, λ/μ to 0.5, fast source link",
         off & (pl.col("beta_over_critical") > 1) & few & fast),
        ("β below critical by 20 %, λ/μ to 0.5, fast source link",
         off & (pl.col("beta_over_critical") < 1) & few & fast),
        ("2.5 or more slow starts per cycle simulated", pl.col("slow_starts_per_cycle") >= 2.5),
        ("fewer than 5 cycles simulated", pl.col("cycles") < 5),
    ]  # fmt: skip
    rows = []
    for name, condition in regions:
        for kind in ("periodic", "poisson"):
            chosen = points.filter(condition, pl.col("exogenous") == kind)
            rows.append({"region": name, "exogenous": kind, **_errors(chosen)})
    return pl.DataFrame(rows)


def _errors(chosen: pl.DataFrame) -> dict[str, Any]:
    thp, rtt = chosen["thp_error"].abs(), chosen["rtt_error"].abs()
    ok = (thp <= THP_LIMIT) & (rtt <= RTT_LIMIT)
    empty = chosen.height == 0
    return {
        "points": chosen.height,
        "thp_within": None if empty else within(chosen, "thp_error", THP_LIMIT),
        "rtt_within": None if empty else within(chosen, "rtt_error", RTT_LIMIT),
        "both_within": None if empty else int(ok.sum()) / chosen.height,
        "thp_error_median": thp.median(),
        "rtt_error_median": rtt.median(),
        "thp_bias_median": chosen["thp_error"].median(),
        "rtt_bias_median": chosen["rtt_error"].median(),
    }


REASONS = {
    "The source link": "source link near or below μ − λ",
    "Exogenous traffic": "λ/μ above one half",
    "At the threshold": "window growth not negligible",
    "The windows": "windows too small for a fluid",
    "The normalised buffer": "β near its critical value",
    "A full buffer": "rounds overlap",
    "A third slow start": "third slow start suspected",
    "The published queue": "negative queue of equation 23",
}
"""The model's reasons against itself, by how their sentences begin."""


def map_validity(points: pl.DataFrame) -> pl.DataFrame:
    """Return how well the model's validity flag and each of its reasons tell good from bad."""
    ok = (pl.col("thp_error").abs() <= THP_LIMIT) & (pl.col("rtt_error").abs() <= RTT_LIMIT)
    rows = []
    flags = [("any reason", ~pl.col("valid"))]
    flags += [
        (label, pl.col("reasons").str.contains(start, literal=True))
        for start, label in REASONS.items()
    ]
    for kind in ("periodic", "poisson"):
        chosen = points.filter(pl.col("exogenous") == kind)
        for name, flag in flags:
            counted = chosen.select(
                (flag & ~ok).sum().alias("flagged_bad"),
                (flag & ok).sum().alias("flagged_good"),
                (~flag & ~ok).sum().alias("passed_bad"),
                (~flag & ok).sum().alias("passed_good"),
            ).row(0, named=True)
            rows.append({"reason": name, "exogenous": kind, **counted})
    return pl.DataFrame(rows).with_columns(pl.exclude("reason", "exogenous").cast(pl.Int64))


TREE_DEPTH = 4
TREE_SHARE = 0.03


def map_regions(points: pl.DataFrame) -> pl.DataFrame:
    """Return regions found from the errors alone: a small decision tree over the coordinates.

    Each split is the threshold that best parts points outside the paper's bounds from those inside
    (Gini); a region holds at least a thirtieth of the points.
    """
    kind = points.filter(pl.col("exogenous") == "periodic")
    least = max(int(TREE_SHARE * kind.height), 5)
    rows: list[dict[str, Any]] = []
    for region, chosen in _split(kind, {}, TREE_DEPTH, least):
        rows.append({"region": _bounds(region), "exogenous": "periodic", **_errors(chosen)})
    return pl.DataFrame(rows).sort("both_within", "region")


Bounds = dict[str, tuple[float, float]]


def _split(
    frame: pl.DataFrame, bounds: Bounds, depth: int, least: int
) -> list[tuple[Bounds, pl.DataFrame]]:
    bad = (frame["thp_error"].abs() > THP_LIMIT) | (frame["rtt_error"].abs() > RTT_LIMIT)
    share = float(bad.mean() or 0.0)  # type: ignore[arg-type]
    best: tuple[float, str, float] | None = None
    if depth > 0 and 0.03 < share < 0.97:
        for name in COORDINATES:
            for place in range(1, 40):
                cut = frame[name].quantile(place / 40)
                if cut is None:
                    continue
                cut = float(f"{cut:.3g}")
                left = frame[name] < cut
                count = int(left.sum())
                if min(count, frame.height - count) < least:
                    continue
                below = float(bad.filter(left).mean() or 0.0)  # type: ignore[arg-type]
                above = float(bad.filter(~left).mean() or 0.0)  # type: ignore[arg-type]
                impurity = count * below * (1 - below)
                impurity += (frame.height - count) * above * (1 - above)
                if best is None or impurity < best[0] - 1e-9:
                    best = (impurity, name, cut)
    if best is None or best[0] > frame.height * share * (1 - share) * 0.97:
        return [(bounds, frame)]
    _, name, cut = best
    low, high = bounds.get(name, (-math.inf, math.inf))
    return [
        *_split(frame.filter(pl.col(name) < cut), {**bounds, name: (low, cut)}, depth - 1, least),
        *_split(frame.filter(pl.col(name) >= cut), {**bounds, name: (cut, high)}, depth - 1, least),
    ]


def _bounds(bounds: Bounds) -> str:
    texts = []
    for name, (low, high) in bounds.items():
        label = COORDINATES[name]
        if math.isinf(low):
            texts.append(f"{label} < {high:g}")
        elif math.isinf(high):
            texts.append(f"{label} ≥ {low:g}")
        else:
            texts.append(f"{low:g} ≤ {label} < {high:g}")
    return ", ".join(texts) or "everywhere"
