"""Tables of runs in notebooks: Arrow tables have no form of their own there."""

from __future__ import annotations

import sys
from typing import Any

from ackclock._shown import html_table

__all__ = ["NAMED", "register"]

#: The metadata under which a table of a run has its name.
NAMED = b"ackclock.table"

_ROWS = 10


def register() -> None:
    """Have IPython, where it runs, show the tables of runs as tables; others stay as they are."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    formatter = getattr(shell, "display_formatter", None)
    if formatter is not None:
        formatter.formatters["text/html"].for_type_by_name("pyarrow.lib", "Table", _show)


def _show(table: Any) -> str | None:
    name = (table.schema.metadata or {}).get(NAMED)
    if name is None:
        return None
    caption = f"{name.decode()}: {table.num_rows:,} row{'' if table.num_rows == 1 else 's'}"
    rows = table.slice(0, _ROWS).to_pylist()
    return html_table(rows, table.column_names, caption=caption, total=table.num_rows)
