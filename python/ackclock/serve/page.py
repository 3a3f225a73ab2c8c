"""The page, as this server gives it."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib import resources

__all__ = ["MISSING", "NAME", "POLICY_OF_FILES", "page", "policy"]

#: The page without the core in WebAssembly, which ``make web`` puts into the package.
NAME = "page.html"

#: Reports are pages of others: they see neither the cookie nor what the server answers.
POLICY_OF_FILES = (
    "sandbox allow-scripts allow-popups allow-downloads; default-src 'self' 'unsafe-inline' data:; "
    "connect-src 'none'; form-action 'none'; base-uri 'none'"
)

_SCRIPT = re.compile(rb"<script([^>]*)>(.*?)</script>", re.DOTALL)


#: The line that stands in the place of the page.
MISSING = "this package was built without the page; `make web build` makes both"


@cache
def page() -> bytes | None:
    """Return the page; None if the package was built without it."""
    try:
        return (resources.files("ackclock.serve") / NAME).read_bytes()
    except FileNotFoundError:
        return None


@cache
def policy() -> str:
    """Return the content security policy of the page: its own program, and no other's."""
    scripts = [
        base64.b64encode(hashlib.sha256(text).digest()).decode()
        for about, text in _SCRIPT.findall(page() or b"")
        if b"application/" not in about
    ]
    allowed = " ".join(f"'sha256-{script}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src 'self' data: blob:; connect-src 'self'; worker-src blob:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
