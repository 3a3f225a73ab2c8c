"""The commands ``ackclock theory ...``: closed forms as a calculator."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.cli import printing
from ackclock.cli.options import AsJson

if TYPE_CHECKING:
    from ackclock.runs import theory as theory_module

__all__ = ["theory_app"]

theory_app = typer.Typer(help="Closed forms: a calculator.", no_args_is_help=True)


#: The parameters of the models by the options that set them.
_OPTIONS = {
    "mu_pps": "--mu",
    "lambda_pps": "--lambda",
    "tau1_s": "--tau1",
    "tau2_s": "--tau2",
    "buffer_packets": "--buffer",
    "bw_in_pps": "--bw-in",
    "rto_s": "--rto",
    "t_rto_s": "--rto",
    "throughput_pps": "--throughput",
    "throughput_ci_pps": "--throughput-ci",
    "rtt_s": "--rtt",
    "rtt_ci_s": "--rtt-ci",
    "loss_rate": "--loss",
    "packets_per_ack": "--packets-per-ack",
    "w_max_packets": "--w-max",
}


def _seconds(text: str) -> float:
    """Return a number of seconds, or those of a text with its unit."""
    try:
        return float(text)
    except ValueError:
        return _read(_core.seconds, text, "100 ms")


def _share(text: str) -> float:
    """Return a share, as a number or in percent."""
    try:
        return float(text)
    except ValueError:
        return _read(_core.share, text, "1 %")


def _read(read: Callable[[str, str], float], text: str, example: str) -> float:
    try:
        return read("", text)
    except BadInput as error:
        says = str(error).removeprefix(": ")
        raise ValueError(f"{says}, or a number" if example in says else says) from None


@contextmanager
def _as_options() -> Generator[None]:
    """Say of bad input which option holds it."""
    try:
        yield
    except BadInput as error:
        text = re.sub(r"\b\w+\b", lambda word: _OPTIONS.get(word[0], word[0]), str(error))
        raise BadInput(text) from None


@theory_app.command("altman")
def theory_altman(
    mu: Annotated[float, typer.Option(help="Rate of the bottleneck, packets/s.")],
    lambda_: Annotated[
        float, typer.Option("--lambda", help="Rate of the exogenous traffic, packets/s.")
    ],
    tau1: Annotated[
        float, typer.Option(help="One-way delay, source to queue, s.", parser=_seconds)
    ],
    tau2: Annotated[
        float, typer.Option(help="One-way delay, queue to destination, s.", parser=_seconds)
    ],
    buffer: Annotated[float, typer.Option(help="Size of the buffer, packets.")],
    bw_in: Annotated[
        float | None, typer.Option(help="Rate of the link from source to queue, packets/s.")
    ] = None,
    rto: Annotated[
        float | None,
        typer.Option(
            help="Retransmission timeout, s. The throughput is then also given for losses that the "
            "timer finds.",
            parser=_seconds,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Throughput and round-trip time of a Tahoe connection beside exogenous traffic."""
    from ackclock.runs import theory as theory_module

    with _as_options():
        answer = theory_module.altman(
            mu_pps=mu,
            lambda_pps=lambda_,
            tau1_s=tau1,
            tau2_s=tau2,
            buffer_packets=buffer,
            bw_in_pps=bw_in,
            rto_s=rto,
        )
    shown: dict[str, Any] = {
        "throughput_pps": answer.throughput_pps,
        "rtt_s": answer.rtt_s,
        "slow_starts_per_cycle": answer.slow_starts_per_cycle,
        "validity": asdict(answer.validity),
    }
    if rto is not None:
        shown["throughput_with_timeout_pps"] = answer.details["throughput_with_timeout_pps"]
    if as_json:
        printing.print_json(shown)
        return
    validity = shown.pop("validity")
    verdict = "holds here" if validity["ok"] else "doubtful here"
    printing.print_values({**shown, "the model": verdict})
    for reason in validity["reasons"]:
        print(f"  {reason}")


@theory_app.command("infer")
def theory_infer(
    unknown: Annotated[
        Literal["mu", "lambda", "tau", "buffer"], typer.Argument(help="The parameter to infer.")
    ],
    throughput: Annotated[
        float | None, typer.Option(help="Measured throughput, packets/s.")
    ] = None,
    throughput_ci: Annotated[
        float | None,
        typer.Option(help="Half-width of its 95 % interval, packets/s; default: 1 % of it."),
    ] = None,
    rtt: Annotated[
        float | None, typer.Option(help="Measured round-trip time, s.", parser=_seconds)
    ] = None,
    rtt_ci: Annotated[
        float | None,
        typer.Option(
            help="Half-width of its 95 % interval, s; default: 1 % of it.", parser=_seconds
        ),
    ] = None,
    mu: Annotated[float | None, typer.Option(help="Rate of the bottleneck, packets/s.")] = None,
    lambda_: Annotated[
        float | None, typer.Option("--lambda", help="Rate of the exogenous traffic, packets/s.")
    ] = None,
    tau1: Annotated[
        float | None, typer.Option(help="Delay, source to queue, s.", parser=_seconds)
    ] = None,
    tau2: Annotated[
        float | None, typer.Option(help="Delay, queue to destination, s.", parser=_seconds)
    ] = None,
    buffer: Annotated[float | None, typer.Option(help="Size of the buffer, packets.")] = None,
    as_json: AsJson = False,
) -> None:
    """One parameter of the path, from the throughput and round-trip time of a Tahoe connection."""
    from ackclock.runs import theory as theory_module

    with _as_options():
        answer = theory_module.infer(
            unknown,
            throughput_pps=_measured("throughput", throughput, throughput_ci),
            rtt_s=_measured("rtt", rtt, rtt_ci),
            mu_pps=mu,
            lambda_pps=lambda_,
            tau1_s=tau1,
            tau2_s=tau2,
            buffer_packets=buffer,
        )
    if as_json:
        printing.print_json(
            {
                "parameter": answer.parameter,
                "identifiable": answer.best is not None,
                "estimate": answer.best and answer.best.estimate,
                "interval": answer.best and [answer.best.low, answer.best.high],
                "reason": answer.reason,
                "solutions": [asdict(solution) for solution in answer.solutions],
                "validity": answer.validity and asdict(answer.validity),
            }
        )
        return
    if answer.best is None:
        print(f"not identifiable: {answer.reason}")
        return
    unit = {"tau": "s", "buffer": "packets"}.get(unknown, "packets/s")
    best = answer.best
    print(f"{unknown} = {best.estimate:.5g} {unit} (95 %: {best.low:.5g} to {best.high:.5g})")
    for reason in answer.validity.reasons if answer.validity else ():
        print(f"  {reason}")


def _measured(
    name: str, value: float | None, half_width: float | None
) -> float | theory_module.Measured | None:
    if half_width is None:
        return value
    if value is None:
        raise BadInput(f"--{name}-ci: stands alone, expected --{name} beside it")
    from ackclock.runs.theory import Measured

    return Measured(value, half_width)


@theory_app.command("response")
def theory_response(
    loss: Annotated[float, typer.Option(help="Loss rate, between 0 and 1.", parser=_share)],
    rtt: Annotated[float, typer.Option(help="Round-trip time, s.", parser=_seconds)],
    packets_per_ack: Annotated[float, typer.Option(help="Packets acknowledged by an ACK.")] = 1.0,
    rto: Annotated[
        float | None,
        typer.Option(
            help="Retransmission timeout, s; default: 4 rtt, at least 1 s.", parser=_seconds
        ),
    ] = None,
    w_max: Annotated[
        float | None, typer.Option(help="The receiver's largest window, packets.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Throughput over loss rate and round-trip time: Mathis, PFTK, TFRC, CUBIC."""
    from ackclock.runs import theory as theory_module

    with _as_options():
        answer = asdict(
            theory_module.response(
                loss_rate=loss,
                rtt_s=rtt,
                packets_per_ack=packets_per_ack,
                t_rto_s=rto,
                w_max_packets=w_max,
            )
        )
    if as_json:
        printing.print_json(answer)
    else:
        printing.print_values(answer)
