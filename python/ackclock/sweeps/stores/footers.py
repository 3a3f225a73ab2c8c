"""The memory that a Parquet file takes once it is read, by its footer.

A file of 860 kB can hold 10 GB: a column of one value is a few bytes, however many rows it has.
The footer says how many values and bytes each column of each row group has.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from ackclock.base.errors import BadInput

__all__ = ["read_bytes_of"]

#: The largest footer that is read. One of a thousand columns in ten row groups takes 1 MB.
_MOST_FOOTER = 8_000_000
#: The most columns of row groups, each of which is looked at.
_MOST_CHUNKS = 100_000
#: The memory of a value, beside the bytes of a text.
_VALUE_BYTES = 16
_MAGIC = b"PAR1"


def read_bytes_of(file: BinaryIO, name: str) -> int:
    """Return the bytes that a file takes in memory once it is read, at most.

    Raises
    ------
    BadInput
        It has no footer, or one that no part of a store has.
    """
    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - 8))
    length, magic = struct.unpack("<I4s", file.read(8).rjust(8, b"\0"))
    if magic != _MAGIC or length > size:
        raise BadInput(f"{name}: cannot be read as Parquet (no footer)")
    if length > _MOST_FOOTER:
        raise BadInput(f"{name}: a footer of {length:,} bytes, expected {_MOST_FOOTER:,} at most")
    file.seek(0)
    try:
        about = pq.read_metadata(file)
        if about.num_row_groups * about.num_columns > _MOST_CHUNKS:
            raise BadInput(
                f"{name}: {about.num_row_groups:,} row groups of {about.num_columns:,} columns, "
                f"expected {_MOST_CHUNKS:,} at most together"
            )
        groups = [about.row_group(n) for n in range(about.num_row_groups)]
        chunks = [group.column(n) for group in groups for n in range(about.num_columns)]
        counts = [(chunk.num_values, chunk.total_uncompressed_size) for chunk in chunks]
    except (pa.ArrowException, OSError, ValueError) as error:
        why = " ".join(str(error).split())
        raise BadInput(f"{name}: cannot be read as Parquet ({why})") from None
    finally:
        file.seek(0)
    # A number below zero is a lie, which would take from the others.
    return sum(_VALUE_BYTES * max(values, 0) + max(size, 0) for values, size in counts)
