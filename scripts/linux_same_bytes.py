#!/usr/bin/env python3
"""Run twenty cells of ``linux_cells.py`` twice, and refuse a file that is not the same bytes.

The first run is root's. The second is an ordinary user's, by another Python and from another cache,
beside four processes that are busy. Tables, reports and captures are compared. It takes root, an
environment that others can read, and about five minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import ackclock as ac
from ackclock.linux import kept
from linux_cells import cells

NAMES = {
    "laws": ("reno", "cdg", "dctcp", "lp", "bbr1"),
    "queues": (
        *("codel, ECN, cubic", "fq_codel, cubic", "pie, reno", "red, cubic", "cake, cubic"),
        "policer, cubic",
    ),
    "paths": (
        *("loss 1 %", "jitter up to 5 ms", "1 % late by 40 ms", "1 % twice"),
        *("ACKs held for 10 ms", "off for 1 s in 5"),
    ),
    "two flows": ("cubic, then cubic", "bbr1, then cubic", "vegas, then reno"),
}
NOBODY, BUSY = 65534, 4


def run(into: Path, linux: str) -> None:
    """Write tables, report and captures of each cell into a folder of its own."""
    kernel = kept.one(linux).manifest
    chosen = [cell for cell in cells() if cell.name in NAMES.get(cell.of, ())]

    def one(seed: int) -> None:
        cell = chosen[seed]
        folder = into / f"{seed:02} {cell.name}"
        scenario = cell.scenario(kernel.hz)
        made = ac.run(scenario, on="linux", linux=kernel.key, seed=seed, pcap=folder / "pcap")
        made.write(folder)
        (folder / "live.json").write_text(json.dumps(made.live), encoding="utf-8")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, range(len(chosen))))


def hashes(folder: Path) -> dict[str, str]:
    """Return the hash of each file below a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@contextmanager
def busy() -> Generator[None]:
    """Keep some processes busy."""
    with ExitStack() as stack:
        for _ in range(BUSY):
            process = stack.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
            stack.callback(process.kill)
        yield


def main() -> int:
    """Run twice, and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--linux", help="the kernel; default: the newest")
    parser.add_argument("--python", default="/usr/bin/python3", help="that of the second run")
    parser.add_argument("--into", type=Path, help="run once, into this folder, and no more")
    given = parser.parse_args()
    kernel = kept.one(given.linux)
    if given.into is not None:
        run(given.into, kernel.manifest.key)
        return 0
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        first, second = place / "root", place / "nobody"
        second.mkdir()
        shutil.copytree(kernel.folder, place / "cache" / "linux" / kernel.manifest.key)
        os.chown(second, NOBODY, NOBODY)
        run(first, kernel.manifest.key)
        user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        variables = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(second),
            "ACKCLOCK_CACHE": str(place / "cache"),
            "PYTHONPATH": sysconfig.get_path("purelib"),
        }
        ours = [given.python, str(Path(__file__).resolve()), "--into", str(second)]
        with busy():
            subprocess.run(["setpriv", *user, *ours], env=variables, cwd=second, check=True)
        one, other = hashes(first), hashes(second)
    differing = sorted(
        path for path in one.keys() | other.keys() if one.get(path) != other.get(path)
    )
    for path in differing:
        print(path)
    cells_run = sum(len(names) for names in NAMES.values())
    print(f"{cells_run} scenarios, {len(one)} files, {len(differing)} of them differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
