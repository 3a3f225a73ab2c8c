"""The way of a browser to this server, which no other user of the machine can read on the way.

The arguments of a process are everybody's to read. The browser is therefore given the name of a
file that only its user can open, and the file leads on with a code that works once.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

__all__ = ["leading_to", "page_leading_to"]


def page_leading_to(address: str) -> str:
    """Return a page that leads a browser on at once.

    What follows is this page's own request: a cookie that was set with it is sent with it, which
    is not so after a redirection of another's request (`SameSite=Strict`).
    """
    return (
        '<!doctype html><meta charset="utf-8"><title>Ackclock</title>'
        f'<meta http-equiv="refresh" content="0;url={address}">'
        f'<a href="{address}">Ackclock</a>\n'
    )


@contextmanager
def leading_to(address: str) -> Generator[str]:
    """Yield the address of a file of the user's own that leads to another, and remove it."""
    known = os.environ.get("XDG_RUNTIME_DIR", "")
    # The folder has the rights 0700.
    folder = Path(mkdtemp(prefix="ackclock-", dir=known if os.access(known, os.W_OK) else None))
    try:
        path = folder / "open.html"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, page_leading_to(address).encode())
        finally:
            os.close(file)
        yield path.as_uri()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
