"""The text of the report: its sections, tables and captions, every number from the results."""

from __future__ import annotations

import polars as pl

from ackclock.report.page import Cell, Page, Prose, Section, Sheet
from ackclock.studies.framework.page import PageContext
from ackclock_studies.scharf2008.abuse import page as page_abuse
from ackclock_studies.scharf2008.analysis import Results
from ackclock_studies.scharf2008.beyond import page as page_beyond
from ackclock_studies.scharf2008.pages.page import kept, table_1


def build(results: Results, context: PageContext[Results]) -> Page:
    """Return the report."""
    draw, verdict = context.draw, context.verdict
    return context.page(
        title="Quick-Start TCP, from end points to routers",
        subtitle=(
            "A sender asks the routers on its way for a rate, and begins with what they approve: "
            "the protocol of RFC 4782 and the routers of Scharf et al. once more, in simulation "
            "and, for the cost, on bytes."
        ),
        banner=_BANNER,
        lead=(
            "What routers and end points cost depends on the machine; all other numbers do not.",
        ),
        timed="what routers and end points cost, which is measured by this machine’s clock",
        sections=(
            Section(
                "start",
                "The beginning of a download (Figures 4 and 6)",
                (
                    Prose(
                        "Server, router 1, router 2 and client in a row, 100 Mbit/s between the "
                        "routers and behind them, buffers without losses. The server asks with its "
                        "SYN-ACK. Rates are means over a round trip."
                    ),
                    draw("f4", "“Threshold set”: ssthresh is the approved window."),
                    draw("f6", "The same with a round trip of 200 ms."),
                    verdict("scharf-f4f6"),
                ),
            ),
            Section(
                "routers",
                "What routers approve (Figures 7 to 9)",
                (
                    draw("f7", "CUBIC; the threshold is set to the approved window."),
                    verdict("scharf-f7"),
                    draw(
                        "f8",
                        "30 Mbit/s at router 1 until 5 s, and 100 Mbit/s at router 2 from 12 s on.",
                    ),
                    verdict("scharf-f8"),
                    draw("f9", "200 requests a second for 5.12 Mbit/s each, none of them used."),
                    verdict("scharf-f9"),
                ),
            ),
            Section(
                "speed-up",
                "Who gains (Figure 10)",
                (
                    draw(
                        "f10",
                        "NewReno. Response time from the request on an open connection to the "
                        "last byte; the grant came with the handshake.",
                    ),
                    verdict("scharf-f10"),
                    _windows(results),
                ),
            ),
            Section(
                "pages",
                "What users wait for (Table I)",
                (
                    Prose(
                        "Four users of a browser, an hour, 100 Mbit/s and a round trip of 200 ms, "
                        "CUBIC; 5.12 Mbit/s are asked for with every connection. A page is a base "
                        "object and what is embedded in it, which a user asks for once the base "
                        "object has come. The first reading is judged: SURGE’s constants of 1998, "
                        "sizes of a server’s files, connections closed with the page, no time of "
                        "the browser’s own."
                    ),
                    draw(
                        "t1", "Means, SURGE’s constants of 1998; bars: 95 % intervals over seeds."
                    ),
                    verdict("scharf-t1"),
                    table_1(results),
                    kept(results),
                ),
            ),
            Section(
                "cost",
                "What it costs (Table II, Figure 11, section V-A)",
                (
                    Prose(
                        "A router in memory forwards packets of 50 bytes: header and checksum "
                        "looked at, TTL counted down, next hop looked up. With the function it "
                        "also runs the simulator’s own Quick-Start router on those with the "
                        "option. “Lowering” redraws a part of the nonce for every request, the "
                        "most work there is; “admitting” runs into its threshold and refuses most. "
                        "These numbers, and those below, depend on the machine."
                    ),
                    _cost(results),
                    draw("f11", "The time of a packet, by batches of 32."),
                    verdict("scharf-t2", "scharf-f11"),
                    _endpoints(results),
                ),
            ),
            Section(
                "attacks",
                "Beyond the paper: lies, floods and crowds",
                (
                    Prose(
                        "Router 1 lowers a request for 81.92 Mbit/s by some steps; somebody behind "
                        "it raises it again. Each step costs a field of two bits of the nonce, "
                        "which a liar has to guess: by RFC 4782 n steps are believed with "
                        "probability 4<sup>−n</sup>. A router that takes no part is always seen, "
                        "by the TTL."
                    ),
                    _attacks(results),
                    Prose(
                        "Who asks and means nothing by it takes it from others: 200 requests a "
                        "second that nobody uses keep everything reserved. Without admission, on "
                        "the other hand, those who mean it are in each other’s way."
                    ),
                    page_abuse.sheet(results),
                ),
            ),
            page_beyond.section(results, draw),
        ),
    )


_BANNER = (
    "Shorter runs of the slowest rates, of the flood and of the browsers, fewer runs of the "
    "attacks, fewer batches of the costs. A verdict may differ from that of the full study."
)


def _windows(results: Results) -> Sheet:
    rows = results["windows"].pivot("startup", index="window", values="response_s")
    return Sheet(
        key="windows",
        label="The peer’s window in the way",
        caption="1 MB at a round trip of 100 ms, by the client’s receive buffer.",
        heads=("receive buffer", "slow start, s", "Quick-Start, s", "speed-up"),
        rows=tuple(
            (
                Cell(row["window"]),
                Cell(f"{row['slow-start']:.3f}"),
                Cell(f"{row['quick-start']:.3f}"),
                Cell(f"{row['slow-start'] / row['quick-start']:.2f}"),
            )
            for row in rows.iter_rows(named=True)
        ),
        data=("windows",),
    )


def _cost(results: Results) -> Sheet:
    rows = results["router"].filter(pl.col("slot_s").is_not_null())
    return Sheet(
        key="router",
        label="Table II on this machine",
        caption=(
            "Medians; added: the median of the paired differences, and half the width of its 95 % "
            "interval over new pairs of routers (order statistics). The first row holds a router "
            "against another of its own kind."
        ),
        heads=("router", "with a request", "slot, s", "Mpackets/s", "original", "added, ns"),
        rows=tuple(
            (
                Cell(row["router"]),
                Cell(f"{100 * row['share']:g} %"),
                Cell(f"{row['slot_s']:g}"),
                Cell(f"{row['packets_per_s'] / 1e6:.1f}"),
                Cell(f"{row['original_packets_per_s'] / 1e6:.1f}"),
                Cell(f"{row['added_ns']:.2f} ± {row['added_ci_ns']:.2f}".replace("-", "−")),
            )
            for row in rows.iter_rows(named=True)
        ),
        data=("router",),
    )


def _endpoints(results: Results) -> Sheet:
    return Sheet(
        key="endpoint",
        label="The end point’s own overhead",
        caption=(
            "A download of 30 MB: the time of the whole simulation a segment, network, ACK and all."
        ),
        heads=("sender", "ns a segment", "added, ns", "runs"),
        rows=tuple(
            (
                Cell(row["sender"]),
                Cell(f"{row['ns_per_segment']:.0f}"),
                Cell(f"{row['added_ns']:.0f} ± {row['added_ci_ns']:.0f}".replace("-", "−")),
                Cell(str(row["runs"])),
            )
            for row in results["endpoint"].iter_rows(named=True)
        ),
        data=("endpoint",),
    )


def _attacks(results: Results) -> Sheet:
    rows = results["attacks"]
    found = []
    for (who, steps), here in rows.group_by("who", "steps", maintain_order=True):
        shares = dict(zip(here["concluded"], here["share"], strict=True))
        expected = {"nobody": 1.0, "no part": 0.0}.get(
            str(who),
            4.0 ** -int(steps),  # type: ignore[call-overload]
        )
        caught = ", ".join(name for name in shares if name != "approved")
        found.append(
            (
                Cell(f"{who}"),
                Cell(f"{steps}"),
                Cell(f"{100 * shares.get('approved', 0.0):.1f} %"),
                Cell(f"{100 * expected:.1f} %"),
                Cell(caught.replace("_", " ") or "–"),
                Cell(f"{here['runs'].sum()}"),
            )
        )
    return Sheet(
        key="attacks",
        label="Raised rates",
        caption="“Nobody” lies: the lowered rate is used.",
        heads=("who lies", "steps lowered", "believed", "by RFC 4782", "else", "runs"),
        rows=tuple(found),
        data=("attacks",),
    )
