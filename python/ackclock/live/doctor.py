"""An examination of the machine: the features that it has, and what to install."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.extras import EXTRAS

__all__ = ["Finding", "examine"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    what
        The thing.
    state
        ``ok``, ``missing``, or ``info`` for a fact that is neither.
    found
        The state or version found.
    needed_for
        The parts of the laboratory that need it.
    remedy
        The remedy if it is missing.
    """

    what: str
    state: Literal["ok", "missing", "info"]
    found: str
    needed_for: str = ""
    remedy: str = ""


def examine() -> list[Finding]:
    """Return what this machine can and cannot do."""
    cores = len(os.sched_getaffinity(0))
    return [
        Finding("ackclock", "ok", _core.version(), "everything"),
        Finding("python", "ok", platform.python_version(), "everything"),
        Finding("processor", "info", f"{platform.machine()}, {cores} of {os.cpu_count()} cores"),
        Finding("memory", "info", _memory()),
        Finding("kernel", "info", f"{platform.system()} {platform.release()}"),
        *(_package(name) for name in EXTRAS),
        _program("ns-2", "ns", "ackclock bench --peers", "apt install ns2", _ns2_version),
        _program("tshark", "tshark", "reading packet captures", "apt install tshark"),
        _program("tcpdump", "tcpdump", "capturing packets", "apt install tcpdump"),
        _program("iperf3", "iperf3", 'live runs: app = { kind = "iperf3" }', "apt install iperf3"),
        _program("lighttpd", "lighttpd", "watanabe2013/live: the film", "apt install lighttpd"),
        _program("ffmpeg", "ffmpeg", "making and reading films", "apt install ffmpeg"),
        _program("VLC", "vlc", "ackclock play --player vlc", "apt install vlc-bin vlc-plugin-base"),
        _root(),
        _tun(),
        _namespaces(),
        _user_namespaces(),
        _realtime(),
        _awake(),
        _every_ack(),
        _congestion_controls(),
        _kernel_laws(),
        _virtual_kernels(),
    ]


def _memory() -> str:
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return "unknown"
    found = re.search(r"MemTotal:\s+(\d+) kB", text)
    return f"{int(found[1]) / 2**20:.1f} GiB" if found else "unknown"


#: The purposes of the extras.
_PURPOSES = {
    "plots": "figures: run.plot_cwnd(), compare --out",
    "report": "ackclock report; ackclock reproduce",
    "polars": "results as Polars frames",
    "pandas": "results as pandas frames, and for pyarrow",
    "duckdb": "SQL over results",
    "rl": "environments for learners (`ackclock.gym`)",
    "dask": "sweeps and searches on many machines",
    "slurm": "the same on a cluster with Slurm",
    "serve": "the page for browsers over this machine's core: ackclock serve",
    "notebook": "the view of a run in Jupyter: ac.show(run)",
}


def _package(name: str) -> Finding:
    purpose = _PURPOSES[EXTRAS[name]]
    try:
        return Finding(name, "ok", importlib.metadata.version(name), purpose)
    except importlib.metadata.PackageNotFoundError:
        # Ackclock itself is on no index, its packages are.
        remedy = f"pip install {name}"
        return Finding(name, "missing", "not installed", purpose, remedy)


def _program(
    what: str,
    command: str,
    purpose: str,
    remedy: str,
    version: Callable[[str], str | None] | None = None,
) -> Finding:
    path = shutil.which(command)
    if path is None:
        return Finding(what, "missing", f"no `{command}` on the PATH", purpose, remedy)
    found = version(path) if version else path
    if found is None:
        return Finding(what, "missing", f"{path} is another program", purpose, remedy)
    return Finding(what, "ok", found, purpose)


def _ns2_version(path: str) -> str | None:
    """Return the version of ns-2 that ``path`` is, or none if it is another program."""
    try:
        answer = subprocess.run(
            [path, "-"],
            input="puts [ns-version]; exit 0\n",
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = answer.stdout.strip()
    return f"{path} {version}" if re.fullmatch(r"[\d.]+\w*", version) else None


def _root() -> Finding:
    purpose = "live runs on the kernel"
    if os.geteuid() == 0:
        return Finding("root", "ok", "this user is root", purpose)
    return Finding("root", "missing", "this user is not root", purpose, "sudo")


def _tun() -> Finding:
    purpose = "live runs: the emulated path"
    device = Path("/dev/net/tun")
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        return Finding("TUN", "missing", f"no {device}", purpose, "modprobe tun")
    except OSError as error:
        found = f"{device}: {error.strerror}"
        return Finding("TUN", "missing", found, purpose, "root, or a container with --device")
    return Finding("TUN", "ok", str(device), purpose)


def _namespaces() -> Finding:
    what, purpose = "network namespaces", "live runs: end points apart from the machine's network"
    command = shutil.which("unshare")
    if command is None:
        return Finding(what, "missing", "no `unshare`", purpose, "apt install util-linux")
    answer = subprocess.run(
        [command, "--net", "true"], capture_output=True, text=True, timeout=10, check=False
    )
    if answer.returncode == 0:
        return Finding(what, "ok", "can be made", purpose)
    reason = answer.stderr.strip().removeprefix("unshare: ") or "cannot be made"
    return Finding(what, "missing", reason, purpose, "root, or a privileged container")


def _try(*words: str) -> str | None:
    """Return why a command fails, None if it does not."""
    command = shutil.which(words[0])
    if command is None:
        return f"no `{words[0]}` (apt install util-linux)"
    answer = subprocess.run(
        [command, *words[1:]], capture_output=True, text=True, timeout=10, check=False
    )
    if answer.returncode == 0:
        return None
    return answer.stderr.strip().removeprefix(f"{words[0]}: ") or "fails"


def _user_namespaces() -> Finding:
    what, purpose = "user namespaces", "live runs without root: unshare -Urn ackclock run ..."
    why = _try("unshare", "-Urn", "true")
    if why is None:
        return Finding(what, "ok", "can be made", purpose)
    remedy = "sysctl kernel.unprivileged_userns_clone=1, or root"
    return Finding(what, "missing", why, purpose, remedy)


def _realtime() -> Finding:
    what, purpose = "real-time priority", "live runs: packets on time on a busy machine"
    why = _try("chrt", "-f", "1", "true")
    if why is None:
        return Finding(what, "ok", "SCHED_FIFO", purpose)
    remedy = "root, or: setcap cap_sys_nice+ep on the Python that runs ackclock"
    return Finding(what, "missing", why, purpose, remedy)


def _awake() -> Finding:
    what, purpose = "processors kept awake", "live runs: packets on time on a quiet machine"
    file = Path("/dev/cpu_dma_latency")
    if os.access(file, os.W_OK):
        return Finding(what, "ok", f"{file} can be written", purpose)
    if not file.exists():
        return Finding(what, "missing", f"no {file}", purpose, "a kernel with CONFIG_PM")
    return Finding(what, "missing", f"this user may not write {file}", purpose, "sudo")


def _every_ack() -> Finding:
    what, purpose = "per-ACK window", "live runs: probes with every = change (tcp:tcp_probe)"
    if os.geteuid() == 0 and Path("/sys/kernel/tracing").is_dir():
        return Finding(what, "ok", "tracefs can be mounted", purpose)
    found = "no /sys/kernel/tracing" if os.geteuid() == 0 else "this user may not mount tracefs"
    return Finding(what, "missing", f"{found}; the window is read every 10 ms", purpose, "sudo")


def _congestion_controls() -> Finding:
    what, purpose = "congestion controls", "live runs: the kernel's senders"
    try:
        text = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text("ascii")
    except OSError as error:
        return Finding(what, "missing", str(error.strerror), purpose, "a Linux kernel")
    return Finding(what, "info", ", ".join(sorted(text.split())), purpose, "modprobe tcp_vegas")


def _kernel_laws() -> Finding:
    what, purpose = "laws of ours in the kernel", "ackclock kernel; live runs of such senders"
    lacks = json.loads(_core.kernel("needs"))
    if lacks is None:
        return Finding(what, "ok", "BPF can be loaded", purpose)
    # The remedy stands behind the reason.
    reason, _, remedy = lacks.partition("; ")
    return Finding(what, "missing", reason, purpose, remedy or "another kernel")


def _virtual_kernels() -> Finding:
    from ackclock.linux import building, kept  # noqa: PLC0415 - a room above

    what, purpose = "kernels in virtual time", "runs by nobody's rights: --on linux"
    try:
        building.refuse_machine()
    except BadInput as error:
        return Finding(what, "missing", str(error), purpose, "Linux on x86-64")
    lacking = building.missing_tools()
    lacks = f"to build one this machine lacks {', '.join(lacking)}" if lacking else ""
    keys = [kernel.manifest.key for kernel in kept.kernels()]
    if keys:
        return Finding(what, "ok", "; ".join(filter(None, (", ".join(keys), lacks))), purpose)
    packages = " ".join("binutils" if tool == "strip" else tool for tool in lacking)
    install = f"apt install {packages.replace('xz', 'xz-utils')}; " if lacking else ""
    found = "; ".join(filter(None, (f"none in {kept.cache()}", lacks)))
    return Finding(what, "missing", found, purpose, f"{install}ackclock linux build 7.2")
