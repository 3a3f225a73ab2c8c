"""The text of the report: its sections, tables and captions, every number from the results."""

from __future__ import annotations

from typing import Any

import polars as pl

from ackclock.report.page import Cell, Drawing, Page, Prose, Section, Sheet
from ackclock.studies.framework.page import PageContext
from ackclock_studies.altman1997.analysis import Results
from ackclock_studies.altman1997.analysis_map import PAPER_BOX, RTT_LIMIT, THP_LIMIT
from ackclock_studies.altman1997.scenarios import MAP_BUFFER_PACKETS, MAP_RANGES


def build(results: Results, context: PageContext[Results]) -> Page:
    """Return the report."""
    verdict = context.verdict

    def draw(key: str, label: str, caption: str) -> Drawing:
        return context.draw(key, caption, label=label)

    return context.page(
        title="A fluid model of TCP, held against a packet simulation",
        subtitle=(
            "Tahoe behind one bottleneck, beside traffic that never reacts: the model of Altman "
            "and colleagues, their tables and figures, and the model’s limits on random paths."
        ),
        banner=_banner(results),
        and_that="; every number on this page comes from one run of the study.",
        lead=(_lead(results),),
        sections=(
            Section("model", "The model", _model(draw)),
            Section("windows", "The window over time", _windows(draw, verdict)),
            Section("utilisation", "What the model says of utilisation", _curves(draw, verdict)),
            Section("table-one", "Table 1: periodic traffic", _first(results, draw, verdict)),
            Section("table-two", "Table 2: poor matches", _second(results, draw, verdict)),
            Section("table-three", "Table 3: Poisson traffic", _third(results, draw, verdict)),
            Section("priority", "Who leaves the queue", _priority(draw, verdict)),
            Section("map", "Theory against simulation at random", _map(results, draw, verdict)),
            Section("extras", "Beyond the paper", _extras(results, draw)),
            Section("made", "How this was made", _made(results)),
        ),
    )


def _banner(results: Results) -> str:
    plan = results.plan
    return (
        f"{plan.seeds} seeds or phases a case in place of 10, {plan.measured_s:g} s measured in "
        f"place of 1400 s, {plan.map_points} random points in place of 2400. Intervals are wider, "
        "and a verdict may differ from that of the full study."
    )


def _lead(results: Results) -> str:
    shares = {
        (row["region"], row["exogenous"]): row
        for row in results["map_shares"].iter_rows(named=True)
    }
    whole = shares["all points", "periodic"]
    box = shares["ranges of table 1", "periodic"]
    valid = shares["called valid by the model", "periodic"]
    return (
        f"The model’s own bounds are 11 % in throughput and 7.5 % in round-trip time. On "
        f"{whole['points']} random paths with periodic exogenous traffic, "
        f"{_percent(whole['thp_within'])} are within the first and "
        f"{_percent(whole['rtt_within'])} within the second; in the ranges that the paper’s nine "
        f"cases span, {_percent(box['thp_within'])} and {_percent(box['rtt_within'])}; where the "
        f"model calls itself valid, {_percent(valid['thp_within'])} and "
        f"{_percent(valid['rtt_within'])}. "
        '<a href="#map">The map</a> shows where it fails.'
    )


def _percent(value: float | None, digits: int = 0) -> str:
    return "none" if value is None else f"{100 * value:.{digits}f} %"


# ------------------------------------------------------------------------------------ sections


def _model(draw: Any) -> tuple[Any, ...]:
    return (
        draw(
            "f1",
            "Figure 1",
            "The path: the buffer is shared with exogenous packets, which come at the rate λ "
            "whatever happens. τ₁ and τ₂ are one-way delays, so that the propagation delay of a "
            "round trip is τ = 2(τ₁ + τ₂).",
        ),
        Prose(
            "A cycle runs from one loss in congestion avoidance to the next. Where the buffer is "
            "small against the path, β ≤ 1/(3 − λ/μ), the slow start that begins the cycle "
            "overflows it, and a second slow start follows. Theory here means the integrals of the "
            "paper’s differential equations: several printed formulas contain misprints, which the "
            "core corrects and marks at the place."
        ),
    )


def _windows(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        draw(
            "f2",
            "Figure 2",
            "Packet simulation, case 1.5, first phase of the exogenous stream: one slow start in "
            "each cycle. The paper does not say which case its figure shows.",
        ),
        draw(
            "f3",
            "Figure 3",
            "Packet simulation, case 1.3: the first slow start overflows the buffer, and a second "
            "one follows at once.",
        ),
        verdict("altman-f2f3", "altman-t1b"),
    )


def _curves(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        draw(
            "f4",
            "Figure 4",
            "Theorem 3.1 with B = 20. Time is counted in service times of the bottleneck. The "
            "values of λ are ours: the paper’s text does not name its own.",
        ),
        draw(
            "f5",
            "Figure 5",
            "Theorem 3.1 with τ = 30 (solid). Dashed: the same with W max = W loss in place of the "
            "theorem’s W loss + 2, to show how far the order of the curves rests on those two "
            "packets.",
        ),
        verdict("altman-f4", "altman-f5"),
    )


def _first(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        draw(
            "t1",
            "Table 1, drawn",
            "Right of the dotted line TCP has more than μ − λ, which is possible only at the cost "
            "of exogenous packets.",
        ),
        *_table(results, 1, "Periodic exogenous traffic."),
        _losses(results),
        verdict("altman-t1"),
    )


def _second(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        draw("t2", "Table 2, drawn", "The paper’s three cases with a poor match."),
        *_table(
            results,
            2,
            "A slow source link, a large λ, three slow starts. In 2.1 packets wait at the source "
            "link; the rtt begins after that wait, which the printed value fits.",
        ),
        draw(
            "f6",
            "Figure 6",
            "Packet simulation, case 2.3, which the paper shows with three slow starts per cycle.",
        ),
        verdict("altman-t2"),
    )


def _third(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        draw("t3", "Table 3, drawn", "The nine cases of table 1 with Poisson exogenous traffic."),
        *_table(results, 3, "Poisson exogenous traffic; theory is that of table 1."),
        draw(
            "f7",
            "Figure 7",
            "W(t) of case 5 with Poisson exogenous traffic, and with periodic traffic below it.",
        ),
        verdict("altman-t3", "altman-f7"),
    )


def _priority(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "Equation 17 says that exogenous packets leave a standing queue as if they had "
            "priority while TCP is in congestion avoidance, and at half their rate while it is in "
            "slow start. Here packets are followed one by one through the queue, and belong to "
            "the phase in which the sender was when it sent them: in congestion avoidance, those "
            "that leave while the bottleneck is busy for a round-trip time or longer without a "
            "break; in slow start, those that came while a burst was building the queue up."
        ),
        draw(
            "priority",
            "Output rates",
            "Left: exogenous packets; the lines mark λ and λ/2. Right: TCP’s packets; the bars "
            "mark μ − λ and μ − λ/2.",
        ),
        verdict("altman-priority"),
    )


def _map(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    plan = results.plan
    ranges = {
        "mu_pps": "μ {} to {} packets/s",
        "lambda_over_mu": "λ/μ {} to {}",
        "tau_s": "τ {} to {} s",
        "tau1_share": "τ₁/(τ₁ + τ₂) {} to {}",
        "beta": "β {} to {}",
        "bw_in_over_free": "source link {} to {} times μ − λ",
    }
    spans = ", ".join(
        text.format(f"{MAP_RANGES[name][0]:g}", f"{MAP_RANGES[name][1]:g}")
        + (" (logarithmic)" if MAP_RANGES[name][2] == "logarithmic" else "")
        for name, text in ranges.items()
    )
    names = {"beta": "β", "lambda_over_mu": "λ/μ", "bw_in_over_free": "source link/(μ − λ)"}
    box = ", ".join(f"{names[name]} {low:g} to {high:g}" for name, (low, high) in PAPER_BOX.items())
    return (
        Prose(
            f"The paper tests its model on nine cases. Here are {plan.map_points} random paths: "
            f"{spans}, with a buffer of {MAP_BUFFER_PACKETS[0]} to {MAP_BUFFER_PACKETS[1]} "
            f"packets; {plan.map_seeds} run{'s' if plan.map_seeds > 1 else ''} of each with "
            "periodic and with Poisson exogenous traffic. An error is theory over simulation, "
            "less one."
        ),
        draw(
            "map",
            "The model’s error",
            "Periodic exogenous traffic; each cell is the median over its points. The two bluish "
            f"steps lie within the paper’s bounds ({100 * THP_LIMIT:g} % and {100 * RTT_LIMIT:g} "
            "%). Dashed: the critical β between one slow start and two, and a source link of μ − "
            "λ.",
        ),
        draw(
            "shares",
            "How many points are within an error",
            f"The ranges of table 1 are {box}. The dotted line is the paper’s bound.",
        ),
        _shares(results),
        _regions(results),
        _confusion(results),
        verdict("altman-map"),
    )


def _extras(results: Results, draw: Any) -> tuple[Any, ...]:
    refused = results["inference"].filter(pl.col("outcome") != "identified").height
    total = results["inference"].height
    covered = results["inference"].filter(
        pl.col("outcome") == "identified",
        pl.col("lambda_pps").is_between(pl.col("low_pps"), pl.col("high_pps")),
    ).height  # fmt: skip
    return (
        Prose(
            "Equation 15 shares the bottleneck in proportion to what comes in. The paper notes "
            "that a queue which serves its users in turn would fit that better than FIFO; so here "
            "it is."
        ),
        draw(
            "fair",
            "A fair queue in place of FIFO",
            "One queue for TCP and one for the exogenous traffic, served in turn, over the same "
            "shared buffer.",
        ),
        draw(
            "sources",
            "Several TCP sources",
            "One, two and four Tahoe connections, each behind a source link of its own. The model "
            "knows one.",
        ),
        draw(
            "senders",
            "Other senders",
            "Reno and NewReno on the same paths: neither returns to a window of one after a fast "
            "retransmit.",
        ),
        draw(
            "bursts",
            "The bursts of slow start",
            "Rate of TCP’s packets within the burst of each round, as they reach the bottleneck, "
            "against the recursion of section 4, begun with a pair of packets back to back. With "
            "the case’s own source link a burst cannot be faster than that link.",
        ),
        draw(
            "inference",
            "λ inferred from throughput and rtt",
            "The paper’s closing idea: the model run backwards on the simulated means of the 21 "
            "cases. Each measurement is given the model’s own bound, 11 % and 7.5 %, as "
            f"uncertainty. The true λ lies in {covered} of {total - refused} intervals; {refused} "
            "cases are not identifiable.",
        ),
    )


def _made(results: Results) -> tuple[Any, ...]:
    plan = results.plan
    return (
        Prose(
            "Packets are 576 bytes. The buffer B counts the packet being sent. Tahoe goes back to "
            "the lost packet, retransmits on the third duplicate acknowledgment, once per window; "
            "windows grow by 1/⌊W⌋ per acknowledgment in congestion avoidance. Acknowledgments are "
            "40 bytes, one for each packet, and take their time on the way back. The timer ticks "
            "every 500 ms and lasts at least 1 s. The round-trip time begins with the start of "
            "transmission on the source link."
        ),
        Prose(
            f"A case is run with {plan.seeds} phases of a periodic stream or {plan.seeds} seeds "
            f"of a Poisson one, {plan.measured_s:g} s after {plan.warm_up_s:g} s of warm-up; "
            "intervals are 95 % of Student’s t. In every run offered packets and bytes equal "
            "those delivered, dropped and queued, on every link; and TCP with the delivered "
            "exogenous packets never exceeds μ: a run that breaks either stops the study."
        ),
        Prose(
            "All data are Parquet files under <code>data/</code>, one row for each setting, "
            "variant and seed in the files named <code>…_seeds</code>. Every observation of every "
            "predicate is in <code>data/predicates.parquet</code>; verdicts for programs are in "
            "<code>claims.json</code>."
        ),
    )


# -------------------------------------------------------------------------------------- tables


def _table(results: Results, number: int, caption: str) -> tuple[Sheet, Sheet]:
    """Return a table of the paper as two: throughput with the path, and rtt with slow starts."""
    published = results["published"].filter(pl.col("table") == number).sort("case")
    theory = results.case_rows("theory", number)
    ours = results.case_rows("simulation", number)
    throughput, delay = [], []
    for row in published.iter_rows(named=True):
        label = f"{row['table']}.{row['case']}"
        mine, model = ours[label], theory[label]
        path = ("buffer_packets", "bw_in_pps", "mu_pps", "lambda_pps", "tau1_s", "tau2_s")
        throughput.append(
            (
                Cell(label),
                *(Cell(f"{row[name]:g}") for name in path),
                Cell(f"{row['published_analytic_thp_pps']:.1f}"),
                Cell(f"{model['thp_pps']:.1f}"),
                Cell(f"{row['published_simulated_thp_pps']:.1f}"),
                _near(mine["thp_pps"], mine["thp_ci_pps"], row["published_simulated_thp_pps"], 1),
                _error(model["thp_pps"], mine["thp_pps"], THP_LIMIT),
            )
        )
        stated = results.case_rows("published", number)[label]
        delay.append(
            (
                Cell(label),
                Cell(f"{row['published_analytic_rtt_s']:.3f}"),
                Cell(f"{model['rtt_s']:.3f}"),
                Cell(f"{row['published_simulated_rtt_s']:.3f}"),
                _near(mine["rtt_s"], mine["rtt_ci_s"], row["published_simulated_rtt_s"], 3),
                _error(model["rtt_s"], mine["rtt_s"], RTT_LIMIT),
                Cell(_number(stated["slow_starts_per_cycle"], 0)),
                Cell(_number(model["slow_starts_per_cycle"], 0)),
                Cell(_number(mine["slow_starts_per_cycle"], 2)),
                Cell("–" if mine["exogenous_loss"] is None
                     else f"{100 * mine['exogenous_loss']:.2f} %"),
            )
        )  # fmt: skip
    data = ("cases", "cases_seeds", "published")
    heads = ("published Ana.", "our theory", "published Sim.", "our simulation", "theory error")
    return (
        Sheet(
            key=f"t{number}-thp",
            label=f"Table {number}, throughput",
            caption=(
                f"{caption} Rates in packets/s, delays in s. Ours are means with 95 % half-widths; "
                "✗ marks ours more than 7 % from the published simulation, and theory outside the "
                "paper’s bound of our simulation."
            ),
            heads=("case", "B", "link", "μ", "λ", "τ₁", "τ₂", *heads),
            rows=tuple(throughput),
            groups=(("", 1), ("path", 6), ("throughput", 5)),
            data=data,
        ),
        Sheet(
            key=f"t{number}-rtt",
            label=f"Table {number}, round-trip time and slow starts",
            caption=(
                "Round-trip times in s; slow starts in a cycle; exogenous packets lost in our runs."
            ),
            heads=("case", *heads, "published", "theory", "simulated", "exogenous loss"),
            rows=tuple(delay),
            groups=(("", 1), ("round-trip time", 5), ("slow starts", 3), ("", 1)),
            data=data,
        ),
    )


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _near(value: float, ci: float | None, published: float, digits: int) -> Cell:
    off = abs(value / published - 1) > 0.07
    text = f"{value:.{digits}f}" + ("" if ci is None else f" ± {ci:.{digits}f}")
    return Cell(text + (" ✗" if off else ""), "bad" if off else "",
                f"{100 * (value / published - 1):+.1f} % from the published value")  # fmt: skip


def _error(theory: float, simulation: float, limit: float) -> Cell:
    error = theory / simulation - 1
    off = abs(error) > limit
    return Cell(f"{100 * error:+.1f} %".replace("-", "−") + (" ✗" if off else ""),
                "bad" if off else "")  # fmt: skip


def _losses(results: Results) -> Sheet:
    rows = []
    for row in results["exogenous_loss"].iter_rows(named=True):
        ci = row["measured_exogenous_loss_ci"]
        measured = f"{100 * row['measured_exogenous_loss']:.2f} %"
        rows.append(
            (
                Cell(f"{row['table']}.{row['case']}"),
                Cell(f"{row['free_pps']:g}"),
                Cell(f"{row['published_thp_pps']:.1f}"),
                Cell(f"{100 * row['needed_exogenous_loss']:.1f} %"),
                Cell(measured + ("" if ci is None else f" ± {100 * ci:.2f}")),
                Cell(f"{row['measured_thp_pps']:.1f}"),
            )
        )
    return Sheet(
        key="losses",
        label="Exogenous loss",
        caption=(
            "Published throughputs above μ − λ, and the least share of exogenous packets that must "
            "be lost for them, (v − μ + λ)/λ, beside the share lost in our runs; all tables."
        ),
        heads=("case", "μ − λ", "published Sim.", "loss needed", "loss measured",
               "our throughput"),
        rows=tuple(rows),
        data=("exogenous_loss",),
    )  # fmt: skip


def _shares(results: Results) -> Sheet:
    rows = []
    for region, group in results["map_shares"].group_by("region", maintain_order=True):
        by_kind = {row["exogenous"]: row for row in group.iter_rows(named=True)}
        cells = [Cell(str(region[0]))]
        for kind in ("periodic", "poisson"):
            row = by_kind[kind]
            cells += [
                Cell(str(row["points"])),
                Cell(_percent(row["thp_within"])),
                Cell(_percent(row["rtt_within"])),
                Cell(_signed(row["thp_bias_median"])),
            ]
        rows.append(tuple(cells))
    heads = ("points", "thp within 11 %", "rtt within 7.5 %", "median thp error")
    return Sheet(
        key="map-shares",
        label="Within the paper’s bounds",
        caption=(
            "Share of points within the bounds, and the median error of throughput with its sign. "
            "The regions are named by the paper’s remarks and overlap. A fast source link is one "
            "of at least 1.1 (μ − λ)."
        ),
        heads=("region", *heads, *heads),
        rows=tuple(rows),
        groups=(("", 1), ("periodic", 4), ("Poisson", 4)),
        data=("map_shares", "map"),
    )


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.1f} %".replace("-", "−")


def _regions(results: Results) -> Sheet:
    rows = tuple(
        (
            Cell(row["region"]),
            Cell(str(row["points"])),
            Cell(_percent(row["both_within"]), "bad" if row["both_within"] < 0.5 else ""),
            Cell(_percent(row["thp_within"])),
            Cell(_percent(row["rtt_within"])),
            Cell(_signed(row["thp_bias_median"])),
            Cell(_signed(row["rtt_bias_median"])),
        )
        for row in results["map_regions"].iter_rows(named=True)
    )
    return Sheet(
        key="map-regions",
        label="Where it fails, found from the errors",
        caption=(
            "A decision tree of at most four splits over β, λ/μ, the source link, β over its "
            "critical value and W max, each chosen to part the points outside the paper’s bounds "
            "from those inside; periodic traffic, worst first."
        ),
        heads=("region", "points", "both within", "thp within", "rtt within", "thp bias",
               "rtt bias"),
        rows=rows,
        data=("map_regions",),
    )  # fmt: skip


def _confusion(results: Results) -> Sheet:
    rows = []
    for reason, group in results["map_validity"].group_by("reason", maintain_order=True):
        by_kind = {row["exogenous"]: row for row in group.iter_rows(named=True)}
        cells = [Cell(str(reason[0]))]
        for kind in ("periodic", "poisson"):
            row = by_kind[kind]
            bad = row["flagged_bad"] + row["passed_bad"]
            flagged = row["flagged_bad"] + row["flagged_good"]
            cells += [
                Cell(f"{row['flagged_bad']} / {row['flagged_good']}"),
                Cell(f"{row['passed_bad']} / {row['passed_good']}"),
                Cell(_percent(row["flagged_bad"] / bad if bad else None)),
                Cell(_percent(row["flagged_bad"] / flagged if flagged else None)),
            ]
        rows.append(tuple(cells))
    heads = ("flagged: bad / good", "passed: bad / good", "bad ones caught", "flags that are right")
    return Sheet(
        key="map-validity",
        label="Whether the model knows",
        caption=(
            "The model’s validity flag and each of its reasons against the outcome. A point is bad "
            "outside either bound."
        ),
        heads=("reason", *heads, *heads),
        rows=tuple(rows),
        groups=(("", 1), ("periodic", 4), ("Poisson", 4)),
        data=("map_validity",),
    )
