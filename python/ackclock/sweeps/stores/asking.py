"""Questions in SQL to the tables of a store, each in a process of its own.

The process has DuckDB without access to files, networks and extensions, a limit of memory, and a
time limit: a question that asks for more ends, and whoever asked goes on.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Mapping

import polars as pl

from ackclock.base.errors import BadInput
from ackclock.base.extras import need

__all__ = ["ask"]

#: The beginnings of questions that read.
_QUESTION = re.compile(r"\s*(select|with|from|show|describe|summarize|explain)\b", re.IGNORECASE)
_MOST_S = 60
_MOST_MEMORY = "2GB"


def ask(query: str, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the answer to a question over tables, by their names.

    Raises
    ------
    BadInput
        The question is none, cannot be answered, or takes more memory or time than there is.
    """
    if not _QUESTION.match(query):
        raise BadInput("sql: expected a question, such as `SELECT * FROM cells`")
    need("questions in SQL need", "duckdb", "pyarrow", extra="sweeps")
    asked = io.BytesIO()
    head = json.dumps({"query": query, "tables": list(tables)}).encode()
    asked.write(len(head).to_bytes(8, "little") + head)
    for frame in tables.values():
        part = io.BytesIO()
        frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)).write_ipc(part)
        asked.write(len(part.getbuffer()).to_bytes(8, "little") + part.getbuffer())
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _CHILD, _MOST_MEMORY],
            input=asked.getbuffer(),
            capture_output=True,
            check=False,
            timeout=_MOST_S,
        )
    except subprocess.TimeoutExpired:
        raise BadInput(f"sql: no answer after {_MOST_S} s") from None
    if done.returncode == 0:
        return pl.read_ipc(io.BytesIO(done.stdout))
    why = done.stderr.decode(errors="replace").strip().splitlines()
    raise BadInput(f"sql: {why[-1] if why else 'the process that answers ended'}")


#: Its process: no module of Ackclock is needed there.
_CHILD = """
import io, json, sys
import duckdb, pyarrow.ipc

def part():
    return sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(8), "little"))

asked = json.loads(part())
base = duckdb.connect(config={
    "enable_external_access": "false", "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false", "memory_limit": sys.argv[1],
    "python_enable_replacements": "false",
})
for name in asked["tables"]:
    base.register(name, pyarrow.ipc.open_file(io.BytesIO(part())).read_all())
base.execute("SET lock_configuration = true")
try:
    table = base.execute(asked["query"]).to_arrow_table()
except Exception as error:
    sys.exit(" ".join(str(error).split("\\n\\n")[0].split()))
with pyarrow.ipc.new_file(sys.stdout.buffer, table.schema) as file:
    file.write_table(table)
"""
