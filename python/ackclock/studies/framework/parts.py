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

from ackclock.base.writing import write_file
from ackclock.report.tables import parquet

Advance = Callable[[int], None]
"""Called with the number of a part's runs that are finished."""


@dataclass(frozen=True)
class Part:
    """A piece of a study: ``compute`` makes one table of ``runs`` simulations (0: none)."""

    name: str
    inputs: Any
    runs: int
    compute: Callable[[Advance], pl.DataFrame]


_CHECKSUM = "checksum"
_NO_CHECKSUM = "0" * 64


def sealed(frame: pl.DataFrame, metadata: Mapping[str, str]) -> bytes:
    """Return a table as Parquet with a checksum of the whole file among its metadata."""
    content = parquet(frame, {**metadata, _CHECKSUM: _NO_CHECKSUM})
    checksum = hashlib.sha256(content).hexdigest()
    return content.replace(_NO_CHECKSUM.encode(), checksum.encode())


def unsealed(content: bytes, metadata: Mapping[str, str]) -> pl.DataFrame | None:
    """Return the table of such a file; None if it was damaged, or has other metadata."""
    try:
        file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        table = file.read()
        pairs = (file.metadata.metadata or {}).items()
        found = {key.decode(): value.decode() for key, value in pairs}
    except (OSError, UnicodeDecodeError, pa.ArrowException):
        return None
    # Arrow's own form of the columns.
    found.pop("ARROW:schema", None)
    checksum = found.pop(_CHECKSUM, "")
    blank = content.replace(checksum.encode(), _NO_CHECKSUM.encode()) if checksum else b""
    if hashlib.sha256(blank).hexdigest() != checksum or found != dict(metadata):
        return None
    return pl.DataFrame(pl.from_arrow(table))


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
        """Return the path of the part's result once it is finished."""
        return self.directory / f"{part.name}-{digest(self.salt, part.name, part.inputs)}.parquet"

    def load(self, part: Part) -> pl.DataFrame | None:
        """Return a finished part, None if it is not there, was damaged or is another's."""
        path = self.path(part)
        try:
            content = path.read_bytes() if path.is_file() else None
        except OSError:
            return None
        return None if content is None else unsealed(content, self._metadata(part))

    def save(self, part: Part, frame: pl.DataFrame) -> None:
        """Write a part's result."""
        content = sealed(frame, self._metadata(part))
        write_file(self.path(part), content, make_folder=True)

    def _metadata(self, part: Part) -> dict[str, str]:
        key = digest(self.salt, part.name, part.inputs)
        return {**self.metadata, "part": part.name, "key": key}


class Ledger:
    """The costs of the parts, on which machine: the one file that differs between equal runs."""

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
        try:
            content = path.read_bytes() if path.is_file() else b""
        except OSError:
            content = b""
        found = unsealed(content, {})
        # One that was damaged says nothing of what parts cost.
        if found is not None and found.schema == self.SCHEMA:
            self.rows = {row["part"]: row for row in found.iter_rows(named=True)}

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
        write_file(self.path, sealed(frame.sort("part"), {}), make_folder=True)


def _processor_s() -> float:
    """Return the processor's seconds of this process, and of children that ended, as guests are."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


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

            wall, cpu = time.perf_counter(), _processor_s()
            frame = part.compute(advance)
            store.save(part, frame)
            done[part.name] = frame
            ledger.record(part.name, part.runs, time.perf_counter() - wall, _processor_s() - cpu)
            finished += part.runs
            progress.update(task, completed=finished)
    return {part.name: done[part.name] for part in parts}
