"""From the runs to the tables that the report shows and the predicates judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

import polars as pl

import ackclock as ac
from ackclock.base.estimates import estimate
from ackclock.studies.framework.reduce import sum_of
from ackclock.studies.framework.study import ByName
from ackclock_studies.altman1997 import model, runs_bursts
from ackclock_studies.altman1997.analysis_map import (
    RTT_LIMIT,
    THP_LIMIT,
    map_points,
    map_regions,
    map_shares,
    map_validity,
)
from ackclock_studies.altman1997.published import Case, cases
from ackclock_studies.altman1997.runs import TRACED, predict
from ackclock_studies.altman1997.scenarios import Plan


@dataclass(frozen=True)
class Results(ByName[Plan]):
    """Everything that the report and the predicates read."""

    published: tuple[Case, ...]

    def case_rows(self, source: str, table: int) -> dict[str, dict[str, Any]]:
        """Return a table's rows from one source, by the case's label."""
        chosen = self["cases"].filter(pl.col("source") == source, pl.col("table") == table)
        return {f"{row['table']}.{row['case']}": row for row in chosen.iter_rows(named=True)}


def analyse(plan: Plan, found: Mapping[str, pl.DataFrame]) -> Results:
    """Reduce the finished parts; without some of them, their tables are absent."""
    published = cases()
    theory = predict([case.path for case in published])
    tables: dict[str, pl.DataFrame] = {}
    seeds = [found[f"table-{number}"] for number in (1, 2, 3) if f"table-{number}" in found]
    if len(seeds) == 3:
        tables["cases_seeds"] = pl.concat(seeds)
        tables["cases"] = _cases(published, theory, tables["cases_seeds"])
        tables["exogenous_loss"] = _exogenous_loss(published, tables["cases"])
        tables["inference"] = _inference(published, tables["cases"])
    tables["published"] = _published(published, theory)
    if "traces" in found:
        tables.update(_traces(found["traces"], plan))
    tables["f4"], tables["f5"] = _theory_curves()
    tables["theory_grid"] = _theory_grid()
    if "priority" in found:
        tables["priority_seeds"] = found["priority"]
        tables["priority"] = _priority(found["priority"])
    if "bursts" in found:
        tables["bursts_seeds"] = found["bursts"]
        tables["bursts"] = _bursts(found["bursts"])
    for name, varied in (("fair", "queue"), ("sources", "sources"), ("senders", "variant")):
        if name in found and "cases_seeds" in tables:
            base = tables["cases_seeds"]
            if name != "fair":
                base = base.filter(pl.col("table") == 1)
            tables[f"{name}_seeds"] = pl.concat([base, found[name]])
            tables[name] = _vary(tables[f"{name}_seeds"], varied)
    chunks = [frame for name, frame in sorted(found.items()) if name.startswith("map-")]
    if chunks:
        tables["map_seeds"] = pl.concat(chunks)
        tables["map"] = map_points(plan, tables["map_seeds"])
        tables["map_shares"] = map_shares(tables["map"])
        tables["map_validity"] = map_validity(tables["map"])
        tables["map_regions"] = map_regions(tables["map"])
    return Results(plan, tables, published)


def mean_with_interval(
    frame: pl.DataFrame, by: Sequence[str], values: Mapping[str, str]
) -> pl.DataFrame:
    """Return means and 95 % half-widths over seeds; ``values`` maps a column to its interval's."""
    rows = []
    for key, group in frame.group_by(list(by), maintain_order=True):
        row: dict[str, Any] = dict(zip(by, key, strict=True))
        row["seeds"] = group.height
        for column, ci_name in values.items():
            found = estimate(group[column].cast(pl.Float64).drop_nulls().to_numpy())
            row[column] = found.mean if found.n else None
            row[ci_name] = found.ci
        rows.append(row)
    floats = {name: pl.Float64 for pair in values.items() for name in pair}
    return pl.DataFrame(rows, schema_overrides=floats, infer_schema_length=None)


MEASURES = {
    "thp_pps": "thp_ci_pps",
    "rtt_s": "rtt_ci_s",
    "slow_starts_per_cycle": "slow_starts_per_cycle_ci",
    "exogenous_loss": "exogenous_loss_ci",
}


def _cases(
    published: Sequence[Case], theory: Sequence[ac.theory.Altman], seeds: pl.DataFrame
) -> pl.DataFrame:
    measured = {
        (row["table"], row["case"]): row
        for row in mean_with_interval(seeds, ("table", "case"), MEASURES).iter_rows(named=True)
    }
    rows: list[dict[str, Any]] = []
    for case, answer in zip(published, theory, strict=True):
        place = {"table": case.table, "case": case.case}
        empty = dict.fromkeys((*MEASURES, *MEASURES.values()), None)
        rows.append(
            {
                **place,
                "source": "published",
                **empty,
                "thp_pps": case.thp_simulated_pps,
                "rtt_s": case.rtt_simulated_s,
                "slow_starts_per_cycle": case.slow_starts_per_cycle,
            }
        )
        rows.append(
            {
                **place,
                "source": "theory",
                **empty,
                "thp_pps": answer.throughput_pps,
                "rtt_s": answer.rtt_s,
                "slow_starts_per_cycle": answer.slow_starts_per_cycle,
            }
        )
        row = measured[case.table, case.case]
        rows.append({**place, "source": "simulation", **{name: row[name] for name in empty}})
    names = ["table", "case", "source"]
    columns = [name for pair in MEASURES.items() for name in pair]
    floats = dict.fromkeys(columns, pl.Float64)
    frame = pl.DataFrame(rows, schema_overrides=floats, infer_schema_length=None)
    return frame.select(*names, *columns)


def _published(published: Sequence[Case], theory: Sequence[ac.theory.Altman]) -> pl.DataFrame:
    """Return the published values beside the core's theory, a row a case."""
    rows = []
    for case, answer in zip(published, theory, strict=True):
        path = case.path
        rows.append(
            {
                "table": case.table,
                "case": case.case,
                "exogenous": case.exogenous,
                **asdict(path),
                "published_analytic_thp_pps": case.thp_analytic_pps,
                "published_simulated_thp_pps": case.thp_simulated_pps,
                "published_analytic_rtt_s": case.rtt_analytic_s,
                "published_simulated_rtt_s": case.rtt_simulated_s,
                "theory_thp_pps": answer.throughput_pps,
                "theory_rtt_s": answer.rtt_s,
                "theory_slow_starts_per_cycle": answer.slow_starts_per_cycle,
                "beta": path.beta,
                "critical_beta": path.critical_beta,
                "w_b_packets": answer.details["w_b"],
                "w_max_packets": answer.details["w_max"],
                "valid": answer.validity.ok,
                "reasons": " ".join(answer.validity.reasons),
            }
        )
    return pl.DataFrame(rows)


def _exogenous_loss(published: Sequence[Case], frame: pl.DataFrame) -> pl.DataFrame:
    """Return, for each published throughput above μ − λ, the loss it needs beside the measured."""
    measured = {
        (row["table"], row["case"]): row
        for row in frame.filter(pl.col("source") == "simulation").iter_rows(named=True)
    }
    rows = []
    for case in published:
        if case.thp_simulated_pps <= case.path.free_pps:
            continue
        row = measured[case.table, case.case]
        rows.append(
            {
                "table": case.table,
                "case": case.case,
                "free_pps": case.path.free_pps,
                "lambda_pps": case.path.lambda_pps,
                "published_thp_pps": case.thp_simulated_pps,
                "needed_exogenous_loss": case.needed_exogenous_loss,
                "measured_thp_pps": row["thp_pps"],
                "measured_exogenous_loss": row["exogenous_loss"],
                "measured_exogenous_loss_ci": row["exogenous_loss_ci"],
            }
        )
    return pl.DataFrame(rows)


def _traces(samples: pl.DataFrame, plan: Plan) -> dict[str, pl.DataFrame]:
    """Return what the figures of W(t) show, and every cycle of every traced run."""
    tables: dict[str, pl.DataFrame] = {}
    label = pl.format("{}.{}", "table", "case")
    for figure, case in TRACED.items():
        window_s = 60.0 if figure in ("f2", "f7") else 40.0
        shown = samples.filter(
            label == case,
            pl.col("seed") == 0,
            pl.col("time_s").is_between(plan.warm_up_s, plan.warm_up_s + window_s),
        )
        tables[figure] = shown.with_columns(
            pl.when(pl.col("ssthresh_segments").is_nan())
            .then(None)
            .otherwise(pl.col("ssthresh_segments"))
            .alias("ssthresh_segments")
        )
    by_label = {found.label: found for found in cases()}
    rows: list[dict[str, Any]] = []
    summary: list[dict[str, Any]] = []
    for key, flow in samples.group_by(
        ["table", "case", "exogenous", "variant", "seed"], maintain_order=True
    ):
        place = dict(zip(("table", "case", "exogenous", "variant", "seed"), key, strict=True))
        path = by_label[f"{place['table']}.{place['case']}"].path
        lengths, counts = runs_bursts.cycle_lengths(path, flow, plan.warm_up_s)
        rows += [
            {**place, "cycle": i, "length_s": float(length), "slow_starts": int(count)}
            for i, (length, count) in enumerate(zip(lengths, counts, strict=True))
        ]
        mean = float(lengths.mean()) if lengths.size else math.nan
        end = plan.warm_up_s + plan.measured_s
        summary.append(
            {
                **place,
                "cycles": int(lengths.size),
                "cycle_mean_s": mean,
                "cycle_variation": float(lengths.std(ddof=1)) / mean if lengths.size > 1 else None,
                "peak_autocorrelation": runs_bursts.peak_autocorrelation(
                    flow, mean, plan.warm_up_s, end
                ),
            }
        )
    tables["cycles"] = pl.DataFrame(rows, infer_schema_length=None)
    tables["periodicity"] = pl.DataFrame(summary, schema_overrides={"cycle_variation": pl.Float64})
    return tables


@cache
def _theory_curves() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return figures 4 and 5: theorem 3.1 alone, and what other readings would draw."""
    by_tau = _curve(model.SHARES, model.F4_TAUS, (model.F4_BUFFER,))
    by_buffer = _curve(model.SHARES, (model.F5_TAU,), model.F5_BUFFERS)
    return by_tau, by_buffer


@cache
def _theory_grid() -> pl.DataFrame:
    """Return the dense grid on which the statements about figures 4 and 5 are checked."""
    first = _curve(model.DENSE_SHARES, model.F4_TAUS, (model.F4_BUFFER,))
    second = _curve(model.DENSE_SHARES, (model.F5_TAU,), model.F5_BUFFERS)
    return pl.concat(
        [
            first.with_columns(pl.lit("f4").alias("figure")),
            second.with_columns(pl.lit("f5").alias("figure")),
        ]
    )


def _curve(
    shares: Sequence[float], taus: Sequence[float], buffers: Sequence[float]
) -> pl.DataFrame:
    questions = model.grid(shares, taus, buffers)
    rows = []
    for share, tau, buffer in questions:
        # The unit of time is a service time.
        path = partial(
            ac.theory.altman,
            mu_pps=1.0,
            lambda_pps=share,
            tau1_s=tau / 2,
            tau2_s=0.0,
            buffer_packets=buffer,
        )
        one, auto = path(mode="one"), path(mode="auto")
        rows.append(
            {
                "lambda_over_mu": share,
                "tau_service_times": tau,
                "buffer_packets": buffer,
                "utilisation": one.throughput_pps / (1 - share),
                "utilisation_with_section_4": auto.throughput_pps / (1 - share),
                "utilisation_without_overshoot": model.utilisation(share, tau, buffer, 0.0),
            }
        )
    return pl.DataFrame(rows)


def _priority(seeds: pl.DataFrame) -> pl.DataFrame:
    """Return output rates of a standing queue: pooled over seeds, by case and phase."""
    return (
        seeds.group_by("table", "case", "mu_pps", "lambda_pps", "phase", maintain_order=True)
        .agg(sum_of(pl.col("observed_s")), pl.col("tcp_packets", "exogenous_packets").sum())
        .with_columns(
            (pl.col("tcp_packets") / pl.col("observed_s")).alias("tcp_out_pps"),
            (pl.col("exogenous_packets") / pl.col("observed_s")).alias("exogenous_out_pps"),
        )
        .with_columns(
            (pl.col("exogenous_out_pps") / pl.col("lambda_pps")).alias("exogenous_out_over_lambda"),
            pl.when(pl.col("phase") == "slow start")
            .then(pl.col("mu_pps") - pl.col("lambda_pps") / 2)
            .otherwise(pl.col("mu_pps") - pl.col("lambda_pps"))
            .alias("predicted_tcp_out_pps"),
        )
    )


def _bursts(seeds: pl.DataFrame) -> pl.DataFrame:
    """Return the bursts' mean rate by round, beside the recursion."""
    keys = ("table", "case", "mu_pps", "lambda_pps", "bw_in_pps", "round")
    frame = mean_with_interval(
        seeds,
        keys,
        {"burst_rate_pps": "burst_rate_ci_pps", "burst_packets": "burst_packets_ci"},
    )
    counts = seeds.group_by(keys).agg(pl.col("bursts").sum())
    frame = frame.join(counts, on=keys, how="left", maintain_order="left")
    by_label = {(case.table, case.case): case.path for case in cases()}
    limits = []
    for table, case, number in frame.select("table", "case", "round").iter_rows():
        path = by_label[table, case]
        limits.append(runs_bursts.recursion(path, None, runs_bursts.ROUNDS)[number - 1])
    return frame.with_columns(
        pl.Series("recursion_pps", limits),
        (2 * pl.col("mu_pps") - pl.col("lambda_pps")).alias("limit_pps"),
    ).sort("table", "case", "bw_in_pps", "round")


def _vary(seeds: pl.DataFrame, varied: str) -> pl.DataFrame:
    """Return the means over seeds for each value of what was varied."""
    keys = ("table", "case", varied, "mu_pps", "lambda_pps")
    extra = {"utilisation": "utilisation_ci"}
    return mean_with_interval(seeds, keys, {**MEASURES, **extra})


def _inference(published: Sequence[Case], frame: pl.DataFrame) -> pl.DataFrame:
    """Return λ as inferred from the simulated throughput and round-trip time.

    The model is off by more than a run's own uncertainty, so that each measurement is given the
    paper's bound on the model's error beside its interval.
    """
    measured = {
        (row["table"], row["case"]): row
        for row in frame.filter(pl.col("source") == "simulation").iter_rows(named=True)
    }
    rows = []
    for case in published:
        row = measured[case.table, case.case]
        half = {
            "throughput_pps": math.hypot(THP_LIMIT * row["thp_pps"], row["thp_ci_pps"] or 0.0),
            "rtt_s": math.hypot(RTT_LIMIT * row["rtt_s"], row["rtt_ci_s"] or 0.0),
        }
        answer = infer_lambda(case, row["thp_pps"], row["rtt_s"], half)
        rows.append(
            {
                "table": case.table,
                "case": case.case,
                "exogenous": case.exogenous,
                "lambda_pps": case.path.lambda_pps,
                "mu_pps": case.path.mu_pps,
                **answer,
            }
        )
    kinds = {"inferred_lambda_pps": pl.Float64, "low_pps": pl.Float64, "high_pps": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)


def infer_lambda(
    case: Case, thp_pps: float, rtt_s: float, half_widths: Mapping[str, float]
) -> dict[str, Any]:
    """Return the λ that explains a measurement, or why there is none."""
    path = asdict(case.path)
    del path["lambda_pps"]
    answer = ac.theory.infer(
        "lambda",
        throughput_pps=ac.theory.Measured(thp_pps, half_widths["throughput_pps"]),
        rtt_s=ac.theory.Measured(rtt_s, half_widths["rtt_s"]),
        **path,
    )
    if answer.best is not None:
        return {
            "inferred_lambda_pps": answer.best.estimate,
            "low_pps": answer.best.low,
            "high_pps": answer.best.high,
            "outcome": "identified",
            "reason": "",
        }
    return {
        "inferred_lambda_pps": None,
        "low_pps": min((one.low for one in answer.solutions), default=None),
        "high_pps": max((one.high for one in answer.solutions), default=None),
        "outcome": answer.cause,
        "reason": answer.reason,
    }
