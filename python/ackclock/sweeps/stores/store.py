"""The store of a sweep: a folder of Parquet files that grows, and is read as one table.

::

    DIR/plan.json                 the plan that was run last, with its scenario
    DIR/plans/DIGEST.json         every plan that was run here
    DIR/plans/DIGEST-*.parquet    its cells: their number, key and settings
    DIR/cells/core=RULES/*.parquet   a row a cell: settings, status, values
    DIR/tables/NAME/core=RULES/*.parquet   tables of runs that were kept

A part gets its name when all of it is on disk, and that of ``cells`` last: a part that is there is
whole, and so are its tables.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from time import sleep
from types import TracebackType
from typing import Self

import polars as pl

from ackclock.base.below import Below
from ackclock.base.errors import BadInput
from ackclock.base.places import Place
from ackclock.base.writing import Folder, is_there, write_file
from ackclock.report.tables import parquet
from ackclock.runs import identity
from ackclock.sweeps.plans.cells import Cells, about, first_line
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.stores.footers import read_bytes_of
from ackclock.sweeps.tasks.blocks import Part

__all__ = ["FINISHED", "Store", "Writer"]

#: The statuses of cells that are not run again.
FINISHED = ("ok", "refused")

#: The orders in which writers beside one another take cells, so that they meet late.
_ORDERS = ("forward", "backward")
_TRIES = 5
_AGAIN_S = 0.1
#: The folders and orders of writers of this process.
_TAKEN: set[tuple[str, str]] = set()


class Store:
    """A store, to be read.

    Parameters
    ----------
    path
        Its folder.
    most_bytes
        The memory that a table of it may take, by the footers of its files.

    Raises
    ------
    BadInput
        There is no store.
    """

    def __init__(self, path: str | os.PathLike[str], most_bytes: int | None = None) -> None:
        self.path = Path(path)
        self._most_bytes = most_bytes or _memory_bytes()
        #: Every file of the store is opened here: a store may come from anybody.
        self._below = Below(self.path)
        if not self._below.is_file("plan.json"):
            raise BadInput(f"{self.path}: no store of a sweep, expected a folder with a plan.json")

    def plan(self) -> Plan:
        """Return the plan that was run last."""
        return Plan.from_text(self._below.read("plan.json"), self.path / "plan.json")

    def index(self, plan: Plan) -> pl.DataFrame:
        """Return the cells of a plan: ``cell``, ``key``, a column an axis, ``seed``.

        Raises
        ------
        BadInput
            The plan was not run here.
        """
        found = [
            f"plans/{name}"
            for name in self._parts_in("plans")
            if name.startswith(f"{plan.digest}-")
        ]
        found.sort(key=self._age)
        if not found and plan.study:
            raise BadInput(
                f"{self.path}: the search of readings has not ended; "
                f"`ackclock readings {plan.study}` with the same --out goes on"
            )
        if not found:
            raise BadInput(f"{self.path}: this plan was not run here")
        return self._read_file(found[-1])

    def rows(self) -> pl.DataFrame:
        """Return a row a cell of every plan and build: one that came to its end, if any did."""
        frame = self._read(lambda: self._cells_of(self.parts()))
        if frame is None:
            return pl.DataFrame(schema={"key": pl.String, "status": pl.String, "reason": pl.String})
        return frame

    def table(self, name: str) -> pl.DataFrame | None:
        """Return the rows of a kept table, of cells that are there; None if it was not kept."""
        if name not in self.names():
            return None
        return self._read(lambda: self._rows_of_cells(self._parts(f"tables/{name}"), self.parts()))

    def names(self) -> list[str]:
        """Return the names of tables that were kept."""
        return self._below.names("tables")

    def parts(self) -> list[str]:
        """Return the parts of the data set of cells, by their names below the store."""
        return self._parts("cells")

    def _parts(self, folder: str) -> list[str]:
        """Return the parts in a folder, and in the folders of builds below it."""
        inner = [f"{folder}/{name}" for name in self._below.names(folder) if "=" in name]
        return [f"{each}/{name}" for each in [folder, *inner] for name in self._parts_in(each)]

    def _parts_in(self, folder: str) -> list[str]:
        """Return the names of the parts in a folder; a dot first is an unfinished file's."""
        names = self._below.names(folder)
        return [name for name in names if name.endswith(".parquet") and not name.startswith(".")]

    def _age(self, name: str) -> tuple[int, str]:
        about = self._below.about(name)
        return (0 if about is None else about.st_mtime_ns), name

    def _read_file(self, name: str, columns: list[str] | None = None) -> pl.DataFrame:
        """Return a file of the store; one that was damaged after it was written is told by name."""
        return self._read_bounded(name, self._most_bytes, columns)[0]

    def _read_bounded(
        self, name: str, left: int, columns: list[str] | None = None
    ) -> tuple[pl.DataFrame, int]:
        """Return a file that takes ``left`` bytes at most, and what it leaves of them."""
        path = self.path / name
        with self._below.opened(name) as file:
            left -= read_bytes_of(file, str(path))
            if left < 0:
                raise BadInput(
                    f"{path}: this file and those before it take more than {self._most_bytes:,} "
                    "bytes of memory"
                )
            try:
                return pl.read_parquet(file, columns=columns, hive_partitioning=False), left
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
                raise BadInput(
                    f"{path}: cannot be read as Parquet ({first_line(error)}); without the file "
                    "its cells are run again"
                ) from None

    def _read_parts(self, parts: Sequence[str], *, named: bool = False) -> pl.DataFrame | None:
        """Return the rows of parts, whose columns may differ, in the order of the parts."""
        frames: list[pl.DataFrame] = []
        left = self._most_bytes
        for part in parts:
            frame, left = self._read_bounded(part, left)
            frames.append(frame)
        if named:
            frames = [
                frame.with_columns(part=pl.lit(_last(part)))
                for frame, part in zip(frames, parts, strict=True)
            ]
        return pl.concat(frames, how="diagonal_relaxed") if frames else None

    def _cells_of(self, parts: Sequence[str], *, named: bool = False) -> pl.DataFrame | None:
        """Return a row a cell, in the order of their hashes: one that came to its end, if any."""
        frame = self._read_parts(parts, named=named)
        if frame is None:
            return None
        worse = pl.col("status").is_in(FINISHED).not_()
        return frame.sort("key", worse, maintain_order=True).unique(
            "key", keep="first", maintain_order=True
        )

    def _rows_of_cells(self, tables: Sequence[str], cells: Sequence[str]) -> pl.DataFrame | None:
        """Return the rows of a kept table: of each cell those of the part that its row is of."""
        whole = {_last(part) for part in cells}
        rows = self._read_parts([part for part in tables if _last(part) in whole], named=True)
        known = self._cells_of(cells, named=True)
        if rows is None or known is None:
            return None
        known = known.select("key", "part")
        return known.join(rows, on=["key", "part"], how="inner", maintain_order="left_right").drop(
            "part"
        )

    def _read(self, read: Callable[[], pl.DataFrame | None]) -> pl.DataFrame | None:
        """Return what ``read`` does; again where another process has brought parts together."""
        for _ in range(_TRIES - 1):
            with suppress(FileNotFoundError):
                return read()
        return read()

    def compact(self) -> int:
        """Bring the parts of each build together, and return how many there were.

        Raises
        ------
        BadInput
            Another process writes into the store.
        """
        with ExitStack() as held:
            for order in _ORDERS:
                if (str(self.path.resolve()), order) in _TAKEN:
                    raise BadInput(f"{self.path}: a sweep is writing into this store")
                held.enter_context(Folder(self._below.path(f"writers/{order}")))
            return self._compact()

    def _compact(self) -> int:
        count = 0
        for build in self._below.names("cells"):
            parts = [f"cells/{build}/{name}" for name in self._parts_in(f"cells/{build}")]
            if len(parts) < 2:
                continue
            count += len(parts)
            frame = self._cells_of(parts)
            assert frame is not None  # noqa: S101 - there are parts
            name = _name(frame["key"].to_list())
            below = [f"tables/{table}/{build}" for table in self.names()]
            for kept in below:
                rows = self._rows_of_cells(
                    [f"{kept}/{part}" for part in self._parts_in(kept)], parts
                )
                if rows is not None:
                    self._write(f"{kept}/{name}", parquet(rows, {}))
            self._write(f"cells/{build}/{name}", parquet(frame, self._about(parts[0])))
            for folder in [f"cells/{build}", *below]:
                gone = [part for part in self._parts_in(folder) if part != name]
                if self._below.is_folder(folder):
                    _remove(self._below.path(folder), gone)
        return count

    def _about(self, part: str) -> dict[str, str]:
        """Return what a part says of itself."""
        with self._below.opened(part) as file:
            found = pl.read_parquet_metadata(file)
        return {key: text for key, text in found.items() if key.startswith("ackclock.")}

    def _write(self, name: str, content: str | bytes) -> None:
        """Write a file of the store, whose folders are made if they are not there."""
        write_file(self._below.path(name), content, make_folder=True)


class Writer(Store):
    """A store that a process writes into, beside others.

    Parameters
    ----------
    path
        Its folder, which is made if it is not there.
    plan
        The plan that is run.
    """

    def __init__(self, path: str | os.PathLike[str], plan: Plan) -> None:
        self.path = Path(path)
        self._most_bytes = _memory_bytes()
        self._below = Below(self.path)
        self._plan = plan
        self._core = identity.rules_id()
        self._folder = f"cells/core={self._core}"
        self._known: set[str] = set()
        self._finished: set[str] = set()
        self._held = ExitStack()
        self.order = self._enter()
        # The files that killed runs have left go; another writer may be at work there.
        folder = self._below.path(self._folder)
        with suppress(BadInput), Folder(folder):
            pass
        for name in ("plan.json", f"plans/{plan.digest}.json"):
            self._write(name, plan.to_json() + "\n")

    def __enter__(self) -> Self:
        """Return the store, which is closed in the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let others have the place of this writer."""
        self._held.close()

    def _enter(self) -> str:
        _try(self.path)
        for order in _ORDERS:
            # All writers of one process have a folder together.
            mine = (str(self.path.resolve()), order)
            if mine in _TAKEN:
                continue
            place = self._below.path(f"writers/{order}")
            with suppress(BadInput):
                self._held.enter_context(Folder(place))
                _TAKEN.add(mine)
                self._held.callback(_TAKEN.discard, mine)
                return order
        return "shuffled"

    def _index(self) -> str:
        """Return the name of the index of the plan, which all decides that decides its keys."""
        plan = self._plan
        decided = identity.digest(
            [
                identity.place_id(plan.on),
                # Cells may name any of them.
                *(identity.kernels_ids() if plan.place == Place.of("linux") else ()),
                about(plan),
                identity.laws_in(plan.to_json()),
                *identity.files_in(plan.to_dict()),
            ]
        )
        return f"plans/{plan.digest}-{self._core}-{decided[:8]}.parquet"

    def keys(self, cells: Cells, told: object = None) -> pl.DataFrame:
        """Return the cells of the plan with their hashes, which are kept beside it."""
        name = self._index()
        if self._below.is_file(name):
            # The newest index of a plan is the one that is read.
            os.utime(self._below.path(name), follow_symlinks=False)
            return self._read_file(name)
        keys = cells.keys(told)  # type: ignore[arg-type]
        frame = cells.frame.with_columns(keys)
        frame = frame.select("cell", "key", pl.exclude("cell", "key"))
        self._write(name, parquet(frame, {}))
        return frame

    def keep_index(self, frame: pl.DataFrame) -> None:
        """Keep the cells that a search has tried, with their hashes, as those of the plan."""
        name = self._index()
        if self._below.is_file(name):
            known = self._read_file(name).drop("cell")
            frame = pl.concat([known, frame.select(known.columns)])
            frame = frame.unique("key", keep="first", maintain_order=True)
        frame = frame.with_row_index("cell").select("cell", "key", pl.exclude("cell", "key"))
        self._write(name, parquet(frame, {}))

    def finished(self, *, retry: bool = False) -> set[str]:
        """Return the hashes of cells that need not be run: other writers' are seen, too.

        With ``retry`` those that failed or came to a limit are not among them.
        """
        # A list of names is cheap: this is asked at each block, of stores with thousands of parts.
        for name in sorted(set(self._parts_in(self._folder)) - self._known):
            try:
                rows = self._read_file(f"{self._folder}/{name}", ["key", "status"])
            except FileNotFoundError:
                continue
            if {*rows.dtypes} != {pl.String()}:
                raise BadInput(f"{self._folder}/{name}: `key` and `status` of a store are texts")
            self._known.add(name)
            if retry:
                rows = rows.filter(pl.col("status").is_in(FINISHED))
            self._finished.update(rows["key"].to_list())
        return self._finished

    def add(self, part: Part) -> None:
        """Write the results of a block: its tables first, and then its cells."""
        name = _name(part.keys)
        core = _last(self._folder)
        for table, content in part.files.items():
            if table != "cells":
                self._write(f"tables/{table}/{core}/{name}", content)
        self._write(f"{self._folder}/{name}", part.files["cells"])
        self._known.add(name)
        self._finished.update(part.keys)


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _try(folder: Path) -> None:
    """Try whether a folder can be written to; another writer may be trying it, too."""
    for n in range(_TRIES):
        try:
            with Folder(folder):
                return
        except BadInput:
            # Another's trial takes milliseconds.
            if n == _TRIES - 1 or not is_there(folder):
                raise
            sleep(_AGAIN_S)


def _name(keys: Sequence[str]) -> str:
    digest = hashlib.blake2b(" ".join(keys).encode(), digest_size=12)
    return f"part-{digest.hexdigest()}.parquet"


def _remove(folder: Path, names: Sequence[str]) -> None:
    with Folder(folder) as place:
        place.commit(*names)
