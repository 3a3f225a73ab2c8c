"""Words of SQL that open files: Polars' dialect has functions that read any file of the machine."""

from __future__ import annotations

import re

__all__ = ["OPENS"]

OPENS = re.compile(r"\b((?:read|scan)_\w+)\s*\(", re.IGNORECASE)
