"""Tables of reports and studies as files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["parquet"]


def parquet(frame: pl.DataFrame, metadata: Mapping[str, str]) -> bytes:
    """Return a table as Parquet, its bytes a function of content and metadata alone."""
    table: pa.Table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    table = table.replace_schema_metadata(dict(sorted(metadata.items())))
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()
