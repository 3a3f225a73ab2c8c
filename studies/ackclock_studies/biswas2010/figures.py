"""The study's figures, drawn from its tidy tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.ticker import StrMethodFormatter

from ackclock.plots.style import COLOURS, figure, styled
from ackclock.studies.framework.reduce import mean_of
from ackclock_studies.biswas2010.scenarios import CUBICS, CWV, CWV_RTOS, NEWCWV, RFC5681, STANDARD

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, PALE = COLOURS["ink"], COLOURS["grey"], COLOURS["pale"]

_HOLLOW = {"markerfacecolor": "white"}
_DASHED, _DOTTED = {"linestyle": (0, (3, 2))}, {"linestyle": (0, (1, 1.5))}
_STANDARD = {"color": INK, "marker": "o"}
_CLOCK = {"color": GREY, "marker": "v"}
_CWV = {"color": COLOURS["blue"], "marker": "s"}
_CWV_500 = {"color": COLOURS["sky"], "marker": "D"}
_CWV_FREE = {"color": COLOURS["sky"], "marker": "^"}
_NEWCWV = {"color": COLOURS["orange"], "marker": "P"}
_LINUX = {"color": COLOURS["purple"], "marker": "d"}
_NONE = {"color": COLOURS["green"], "marker": "X"}

LOOKS: dict[str, dict[str, Any]] = {
    STANDARD: {"label": "standard", **_STANDARD},
    RFC5681: {"label": "standard, RFC’s clock", **_CLOCK, **_DASHED},
    CWV: {"label": "CWV", **_CWV},
    CWV_RTOS["500 ms"]: {"label": "CWV, 500 ms", **_CWV_500, **_DASHED},
    CWV_RTOS["unclamped"]: {"label": "CWV, no minimum", **_CWV_FREE, **_DOTTED},
    NEWCWV: {"label": "newCWV", **_NEWCWV},
    "newreno+noidle": {"label": "none", **_NONE},
    CUBICS[0]: {"label": "CUBIC, standard", **_STANDARD, **_HOLLOW},
    CUBICS[1]: {"label": "CUBIC, RFC’s clock", **_CLOCK, **_HOLLOW},
    CUBICS[2]: {"label": "CUBIC, CWV", **_CWV, **_HOLLOW},
    CUBICS[3]: {"label": "CUBIC, CWV, 500 ms", **_CWV_500, **_HOLLOW},
    CUBICS[4]: {"label": "CUBIC, newCWV", **_NEWCWV, **_HOLLOW},
    CUBICS[5]: {"label": "CUBIC, Linux", **_LINUX, **_HOLLOW},
    CUBICS[6]: {"label": "CUBIC, none", **_NONE, **_HOLLOW},
}
"""Colour by rule; hollow is CUBIC."""

RENO_SHOWN = (STANDARD, RFC5681, *CWV_RTOS.values(), NEWCWV)
CUBIC_SHOWN = (CUBICS[0], CUBICS[2], CUBICS[4], CUBICS[5], CUBICS[6])

_SAYS = {"rate_bps": "received, kbit/s a flow", "drop_rate": "dropped, %"}
_SCALES = {"rate_bps": 1e-3, "drop_rate": 100.0}


def _curve(panel: Axes, rows: pl.DataFrame, x: str, column: str, **look: Any) -> None:
    rows = rows.sort(x)
    scale = _SCALES[column]
    panel.errorbar(
        rows[x], rows[column] * scale, yerr=(rows[f"{column}_ci"] * scale).fill_null(0.0),
        linewidth=1.1, capsize=2, markersize=4.2, **look,
    )  # fmt: skip


def by_flows(
    rows: pl.DataFrame, column: str, *, mix: str, period_s: float, delay_s: float
) -> Figure:
    """Draw rates or drop rates over the number of flows: NewReno, and CUBIC beside it."""
    rows = rows.filter(
        pl.col("mix") == mix, pl.col("period_s") == period_s, pl.col("delay_s") == delay_s
    )
    with styled():
        made, panels = figure(3.2, 1, 2, sharey=True)
        shown = (
            (panels[0], "NewReno", RENO_SHOWN, STANDARD),
            (panels[1], "CUBIC", CUBIC_SHOWN, CUBICS[0]),
        )
        for panel, name, variants, standard in shown:
            for variant in variants:
                these = rows.filter(pl.col("variant") == variant)
                if mix == "hetero" and variant == standard:
                    # Beside each rival the standard flows have another fate.
                    rival = CWV if standard == STANDARD else CUBICS[2]
                    these = these.filter(pl.col("rival") == rival)
                if these.height:
                    _curve(panel, these, "n", column, **LOOKS[variant])
            if mix == "hetero":
                rival = NEWCWV if standard == STANDARD else CUBICS[4]
                these = rows.filter(pl.col("variant") == standard, pl.col("rival") == rival)
                look = {**LOOKS[standard], "linestyle": (0, (1, 1.5)), "color": COLOURS["orange"]}
                if these.height:
                    _curve(panel, these, "n", column, **{**look, "label": "standard beside newCWV"})
            panel.set(xlabel="flows", title=name, xticks=sorted(rows["n"].unique().to_list()))
            if column == "rate_bps":
                _share(panel, rows)
            panel.legend(fontsize=7, labelspacing=0.3)
        panels[0].set(ylabel=_SAYS[column], ylim=(0, None))
        return made


def _share(panel: Axes, rows: pl.DataFrame) -> None:
    flows = sorted(rows["n"].unique().to_list())
    ideal = [min(512 * 1500 / 1460, 2000 / n) for n in flows]
    panel.plot(flows, ideal, color=PALE, linewidth=3.2, zorder=0, label="equal shares")


def windows(traces: pl.DataFrame) -> Figure:
    """Draw the window of one flow over time, from its beginning and around the silence."""
    rows = traces.filter(pl.col("mode") == "idle")
    with styled():
        made, (left, right) = figure(3.0, 1, 2, width_ratios=(1.25, 1))
        for variant in (STANDARD, CWV, NEWCWV):
            curve = rows.filter(pl.col("variant") == variant).sort("time_s")
            look = LOOKS[variant]
            for panel in (left, right):
                panel.step(curve["time_s"], curve["cwnd_segments"], where="post",
                           color=look["color"], label=look["label"], linewidth=1.3)  # fmt: skip
        used = 512e3 / (8 * 1460) * 2 * (float(rows["delay_s"][0]) + 0.002)
        for panel in (left, right):
            panel.axhline(used, color=PALE, linewidth=3, zorder=0, label="used by the application")
            panel.axvspan(10.1, 11.6, color=PALE, alpha=0.35, linewidth=0)
            panel.set_xlabel("time, s")
        left.set(ylabel="window, segments", yscale="log", ylim=(0.8, None), title="the whole run")
        right.set(xlim=(9.5, 13.5), ylim=(0, 40), title="around 1.5 s of silence")
        left.legend(loc="lower center", ncols=2, fontsize=7)
        return made


def silences(rows: pl.DataFrame, x: str, flows: Sequence[int], *, label: str) -> Figure:
    """Draw rates and drop rates over how long the silence, or the limited period, lasts."""
    rows = rows.filter(pl.col("mix") == "homo", pl.col("delay_s") == 0.1)
    with styled():
        made, panels = figure(4.9, 2, len(flows), sharex=True)
        for column, n in enumerate(flows):
            for line, what in enumerate(("rate_bps", "drop_rate")):
                panel = panels[line, column]
                for variant in RENO_SHOWN:
                    these = rows.filter(pl.col("variant") == variant, pl.col("n") == n)
                    if these.height > 1:
                        _curve(panel, these, x, what, **LOOKS[variant])
                panel.set(xscale="log")
                panel.set_ylim(0, None if rows.filter(pl.col("n") == n)[what].max() else 1)
                panel.set_xticks([0.5, 1, 2, 5, 10, 30] if x == "period_s" and rows[x].max() > 6  # type: ignore[operator]
                                 else [0.5, 1, 2, 5])  # fmt: skip
                panel.minorticks_off()
                panel.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
                if column == 0:
                    panel.set_ylabel(_SAYS[what])
            panels[0, column].set_title(f"{n} flows")
            panels[1, column].set_xlabel(label)
        panels[0, 0].legend(fontsize=7, labelspacing=0.3)
        return made


def delays(rows: pl.DataFrame, means: pl.DataFrame) -> Figure:
    """Draw delays after 1.5 s of silence by message, and the first ones' mean over the silence."""
    with styled():
        made, panels = figure(5.2, 2, 2)
        by_message = (
            rows.filter(pl.col("idle_s") == 1.5)
            .group_by("changed_bps", "variant", "message")
            .agg(mean_of(pl.col("message_delay_s")), pl.col("missing").sum())
            # Where messages are missing, the mean would be of the lucky ones.
            .filter(pl.col("missing") == 0)
        )
        for line, (capacity, name) in enumerate(
            ((None, "100 Mbit/s stay"), (2_000_000, "2 Mbit/s"))
        ):
            left, right = panels[line]
            for variant in RENO_SHOWN:
                look = LOOKS[variant]
                curve = by_message.filter(
                    pl.col("changed_bps").eq_missing(capacity), pl.col("variant") == variant
                ).sort("message")
                left.plot(curve["message"], curve["message_delay_s"], color=look["color"],
                          linestyle=look.get("linestyle", "-"), linewidth=1.3)  # fmt: skip
                these = means.filter(
                    pl.col("changed_bps").eq_missing(capacity), pl.col("variant") == variant
                ).sort("idle_s")
                right.errorbar(these["idle_s"] / 0.204, these["first_delay_s"],
                               yerr=these["first_delay_s_ci"].fill_null(0.0), linewidth=1.1,
                               capsize=2, markersize=4, **look)  # fmt: skip
            left.set(ylabel="delay, s", title=f"{name}: 1.5 s of silence", ylim=(0, None))
            right.set(xscale="log", title=f"{name}: mean of the first 50", ylim=(0, None))
            right.axvspan(5, 22, color=PALE, alpha=0.35, linewidth=0)
            right.minorticks_off()
            right.set_xticks([2.5, 5, 10, 22, 50, 150])
            right.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        panels[1, 0].set_xlabel("message after the restart")
        panels[1, 1].set_xlabel("silence, round trips")
        panels[0, 1].legend(fontsize=7, labelspacing=0.3)
        return made


def trade(silent: pl.DataFrame, slow: pl.DataFrame, n: int) -> Figure:
    """Draw every rule's rate against its drop rate, after silence and after a limited period."""
    with styled():
        made, panels = figure(3.5, 1, 2)
        cases = ((silent, 1.5, "after 1.5 s of silence"), (slow, 5.0, "after 5 s at 12 kbit/s"))
        for panel, (rows, period_s, name) in zip(panels, cases, strict=True):
            here = rows.filter(
                pl.col("mix") == "homo", pl.col("n") == n, pl.col("period_s") == period_s,
                pl.col("delay_s") == 0.1,
            )  # fmt: skip
            for variant, look in LOOKS.items():
                these = here.filter(pl.col("variant") == variant)
                if not these.height:
                    continue
                marks = {name: value for name, value in look.items() if name != "linestyle"}
                panel.errorbar(these["drop_rate"] * 100, these["rate_bps"] / 1e3,
                               xerr=these["drop_rate_ci"].fill_null(0.0) * 100,
                               yerr=these["rate_bps_ci"].fill_null(0.0) / 1e3,
                               linestyle="none", markersize=5.5, capsize=2, **marks)  # fmt: skip
            panel.set(xlabel="dropped, %", title=f"{n} flows {name}")
        panels[0].set_ylabel("received, kbit/s a flow")
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
        return made


def choices(rows: pl.DataFrame, names: Sequence[str]) -> Figure:
    """Draw rates under other choices that the paper leaves open."""
    with styled():
        made, panels = figure(4.8, 2, 2, sharey=True)
        for line, (mode, title) in enumerate(
            (("idle", "1.5 s of silence"), ("limited", "5 s at 12 kbit/s"))
        ):
            for column, n in enumerate(sorted(rows["n"].unique().to_list())):
                panel = panels[line, column]
                here = rows.filter(pl.col("mode") == mode, pl.col("n") == n)
                for shift, variant in ((-0.2, STANDARD), (0.0, CWV), (0.2, NEWCWV)):
                    look = LOOKS[variant]
                    these = here.filter(pl.col("variant") == variant)
                    by_name = {row["choice"]: row for row in these.iter_rows(named=True)}
                    found = [by_name[name] for name in names]
                    panel.errorbar(
                        [row["rate_bps"] / 1e3 for row in found],
                        [place + shift for place in range(len(found))],
                        xerr=[(row["rate_bps_ci"] or 0.0) / 1e3 for row in found],
                        linestyle="none", color=look["color"], marker=look["marker"],
                        markersize=4.5, capsize=2, label=look["label"],
                    )  # fmt: skip
                panel.set(yticks=range(len(names)), title=f"{title}, {n} flows", xlim=(0, None))
                panel.set_yticklabels(list(names))
                panel.tick_params(axis="y", length=0)
        panels[0, 0].invert_yaxis()
        for panel in panels[1]:
            panel.set_xlabel("received, kbit/s a flow")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7)
        return made


def videos(rows: pl.DataFrame, rules: Sequence[str]) -> Figure:
    """Draw how long a segment of video takes under each rule."""
    colours = {"cubic": COLOURS["blue"], "reno": COLOURS["orange"]}
    with styled():
        made, panels = figure(3.0, 1, 2, sharey=True)
        for panel, rtt_ms in zip(panels, sorted(rows["rtt_ms"].unique().to_list()), strict=True):
            for shift, growth in ((-0.13, "cubic"), (0.13, "reno")):
                these = rows.filter(pl.col("rtt_ms") == rtt_ms, pl.col("growth") == growth)
                by_rule = {row["rule"]: row for row in these.iter_rows(named=True)}
                for column, face, word in (("took_s", colours[growth], "mean"),
                                           ("took_p95_s", "white", "95th percentile")):  # fmt: skip
                    panel.errorbar(
                        [by_rule[rule][column] for rule in rules],
                        [place + shift for place in range(len(rules))],
                        xerr=[by_rule[rule][f"{column}_ci"] or 0.0 for rule in rules],
                        linestyle="none", marker="o", markersize=5, capsize=2,
                        color=colours[growth], markerfacecolor=face,
                        label=f"{growth.replace('cubic', 'CUBIC').replace('reno', 'Reno')}, {word}",
                    )  # fmt: skip
            panel.set(xlabel="time of a segment, s", title=f"round trip {rtt_ms} ms",
                      yticks=range(len(rules)))  # fmt: skip
            panel.set_xlim(0, None)
            panel.set_yticklabels(list(rules))
            panel.tick_params(axis="y", length=0)
        panels[0].invert_yaxis()
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
        return made
