"""Files of numbers, read by the core as those that a scenario file names."""

from __future__ import annotations

import json
import os
from typing import Any

from ackclock import _core

__all__ = ["read_columns"]


def read_columns(key: str, path: str | os.PathLike[str], **beside: str | None) -> dict[str, Any]:
    """Return the table whose list ``key`` is in the file ``path``."""
    table = {key: os.fspath(path)} | {
        name: text for name, text in beside.items() if text is not None
    }
    return json.loads(_core.read_columns(json.dumps(table)))
