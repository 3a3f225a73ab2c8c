"""The commands ``ackclock kernel ...``: laws of ours in the stock Linux kernel."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from ackclock import _core
from ackclock.cli import printing
from ackclock.cli.options import AsJson

__all__ = ["kernel_app"]

EXIT_FAILED = 1

kernel_app = typer.Typer(
    help="Laws of ours in the Linux kernel, as BPF: CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON.",
    no_args_is_help=True,
)

Names = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME...", help="Laws, as senders' names have them: tahoe, ccpd(1,2000)."
    ),
]
SomeNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="Laws, or their names in the kernel. Default: all."),
]


def _ask(request: str, names: list[str] | None = None, seconds: float = 3.0) -> Any:
    return json.loads(_core.kernel(request, names or [], seconds))


@kernel_app.command("list")
def list_laws(as_json: AsJson = False) -> None:
    """List the laws, and why this kernel cannot take one."""
    found = _ask("list")
    if as_json:
        printing.print_json(found)
        return
    width = max(len(", ".join(law["words"])) for law in found)
    for law in found:
        mark = "no" if law["lacks"] else "yes"
        print(f"{mark:<4}{', '.join(law['words']):<{width}}  {printing.plain(law['title'])}")
    for why in dict.fromkeys(law["lacks"] for law in found if law["lacks"]):
        print(f"no: {printing.plain(why)}")


@kernel_app.command()
def load(names: Names, as_json: AsJson = False) -> None:
    """Load laws to stay, until `ackclock kernel unload`. No default is changed."""
    loaded = _ask("load", names)
    if as_json:
        printing.print_json(loaded)
        return
    for law in loaded:
        print(
            f"{law['name']}: object {law['object']} {law['hash']}, {law['instructions']} "
            "instructions followed by the verifier"
        )


@kernel_app.command()
def unload(names: SomeNames = None, as_json: AsJson = False) -> None:
    """Remove laws that were loaded to stay. Connections that use one keep it to their end."""
    removed = _ask("unload", names)
    if as_json:
        printing.print_json(removed)
        return
    print(f"removed: {', '.join(removed) or 'nothing'}")


@kernel_app.command()
def status(as_json: AsJson = False) -> None:
    """List the laws of ours that are in the kernel."""
    found = _ask("status")
    if as_json:
        printing.print_json(found)
        return
    for law in found:
        print(f"{law['name']}: {_state(law)}")
    if not found:
        print("none")


def _state(law: dict[str, Any]) -> str:
    """Return in words who keeps a law in the kernel."""
    if law["leaving"]:
        return "removed, connections still use it"
    if not law["held"]:
        return "loaded to stay"
    if law["owner"] is None:
        return "its run has ended, or is out of sight; the kernel removes it with its last user"
    return f"held by the process {law['owner']}"


@kernel_app.command("test")
def try_laws(
    names: SomeNames = None,
    seconds: Annotated[
        float, typer.Option(min=1.0, max=600.0, help="The time that each law sends, in seconds.")
    ] = 4.0,
    as_json: AsJson = False,
) -> None:
    """Load each law, send through it, hold it against the same law in Rust, and remove it."""
    with printing.status("on real packets"):
        found = _ask("test", names, seconds)
    if as_json:
        printing.print_json(found)
    else:
        for trial in found:
            _tell(trial)
    if not all(trial["passed"] for trial in found):
        raise typer.Exit(EXIT_FAILED)


def _tell(trial: dict[str, Any]) -> None:
    law = trial["law"]
    mark = "yes" if trial["passed"] else "no"
    line = (
        f"{mark:<4}{trial['word']}: {trial['goodput_bps'] / 1e6:.2f} Mbit/s, "
        f"{trial['segments_retransmitted']} segments sent again, {law['records']} records"
    )
    if law["judged_acks"] is not None:
        line += (
            f"; of {law['judged_acks']} ACKs {law['apart_acks']} apart from the law in Rust, "
            f"by {law['apart_segments']:.2f} segments at most"
        )
    print(line)
    if not trial["valid"]:
        printing.say(f"{trial['word']}: the path was late: {'; '.join(trial['doubts'])}")
