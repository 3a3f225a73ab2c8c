"""Work in parts: each part's result lies on disk whole or not at all, so that a run resumes.

A part's file carries a hash of everything that decides its content: its inputs, the code that
reduces them and the compiled core. What the work cost is kept apart, in ``data/cost.parquet``.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Advance = Callable[[int], None]
"""Called with the number of a part's runs that are finished."""


@dataclass(frozen=True)
class Part:
    """A piece of a study: ``compute`` makes one table of ``runs`` simulations (0: none)."""

    name: str
    inputs: Any
    runs: int
    compute: Callable[[Advance], pl.DataFrame]


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place, then move it there: a reader sees all of it or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write text, whole or not at all."""
    write_atomically(path, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))


def write_parquet(path: Path, frame: pl.DataFrame, metadata: Mapping[str, str]) -> None:
    """Write a table, whole or not at all, its bytes a function of content and metadata alone."""
    table: pa.Table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    table = table.replace_schema_metadata(dict(sorted(metadata.items())))
    write_atomically(path, lambda unfinished: pq.write_table(table, unfinished, compression="zstd"))


def digest(*pieces: Any) -> str:
    """Return a short hash of JSON-like values, bytes and files."""
    state = hashlib.sha256()
    for piece in pieces:
        if isinstance(piece, Path):
            content = piece.read_bytes()
        elif isinstance(piece, bytes):
            content = piece
        else:
            content = json.dumps(piece, sort_keys=True, separators=(",", ":")).encode()
        state.update(hashlib.sha256(content).digest())
    return state.hexdigest()[:16]


class PartStore:
    """The finished parts of a run, in one directory."""

    def __init__(self, directory: Path, salt: str, metadata: Mapping[str, str]) -> None:
        self.directory = directory
        self.salt = salt
        self.metadata = metadata

    def path(self, part: Part) -> Path:
        """Where the part's result lies once it is finished."""
        return self.directory / f"{part.name}-{digest(self.salt, part.name, part.inputs)}.parquet"

    def load(self, part: Part) -> pl.DataFrame | None:
        """Return a finished part, None if it is not there or cannot be read."""
        path = self.path(part)
        if not path.is_file():
            return None
        try:
            return pl.DataFrame(pl.from_arrow(pq.read_table(path)))
        except (OSError, pa.ArrowException):
            return None

    def save(self, part: Part, frame: pl.DataFrame) -> None:
        """Write a part's result."""
        write_parquet(self.path(part), frame, {**self.metadata, "part": part.name})


class Ledger:
    """What the parts cost, on which machine: the one file that differs between equal runs."""

    SCHEMA = pl.Schema(
        {
            "part": pl.String,
            "runs": pl.Int64,
            "wall_s": pl.Float64,
            "cpu_s": pl.Float64,
            "peak_memory_bytes": pl.Int64,
            "threads": pl.Int64,
            "host": pl.String,
            "system": pl.String,
            "python": pl.String,
        }
    )

    def __init__(self, path: Path, threads: int | None) -> None:
        self.path = path
        self.threads = threads or os.cpu_count() or 1
        self.rows: dict[str, dict[str, Any]] = {}
        if path.is_file():
            try:
                for row in pl.read_parquet(path).iter_rows(named=True):
                    self.rows[row["part"]] = row
            except (OSError, pl.exceptions.PolarsError, KeyError):
                self.rows = {}

    def record(self, part: str, runs: int, wall_s: float, cpu_s: float) -> None:
        """Note what a part cost, and write the ledger."""
        unit = 1 if sys.platform == "darwin" else 1024
        self.rows[part] = {
            "part": part,
            "runs": runs,
            "wall_s": wall_s,
            "cpu_s": cpu_s,
            "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
            "threads": self.threads,
            "host": platform.node(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "python": platform.python_version(),
        }
        frame = pl.DataFrame(list(self.rows.values()), schema=self.SCHEMA)
        write_parquet(self.path, frame.sort("part"), {})


def run_parts(
    parts: Sequence[Part], store: PartStore, ledger: Ledger, console: Console
) -> dict[str, pl.DataFrame]:
    """Return every part's table, computing those that are not finished yet.

    An interrupt leaves the finished parts on disk.
    """
    done: dict[str, pl.DataFrame] = {}
    waiting: list[Part] = []
    for part in parts:
        found = store.load(part)
        if found is None:
            waiting.append(part)
        else:
            done[part.name] = found
    if done:
        console.print(f"{len(done)} of {len(parts)} parts were finished before; they are kept.")
    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=sum(part.runs for part in waiting))
        finished = 0
        for part in waiting:
            progress.update(task, description=part.name)
            before = finished

            def advance(count: int, before: int = before) -> None:
                progress.update(task, completed=before + count)

            wall, cpu = time.perf_counter(), time.process_time()
            frame = part.compute(advance)
            store.save(part, frame)
            done[part.name] = frame
            ledger.record(
                part.name, part.runs, time.perf_counter() - wall, time.process_time() - cpu
            )
            finished += part.runs
            progress.update(task, completed=finished)
    return {part.name: done[part.name] for part in parts}
