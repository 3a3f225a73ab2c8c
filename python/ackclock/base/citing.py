"""BibTeX of results: what was run, by which version, its address, and the digest of the runs."""

from __future__ import annotations

from ackclock import _core

__all__ = ["URL", "YEAR", "bibtex"]

#: The year of the version and the address of the project, as in CITATION.cff.
YEAR = 2026
URL = "https://github.com/ackclock/ackclock"


def bibtex(key: str, title: str, digest: str, *, how: str = "", note: str = "") -> str:
    """Return an entry by which results can be cited.

    Parameters
    ----------
    key
        The end of the entry's key, such as ``suite-quick``.
    title
        The title.
    digest
        The digest of the runs.
    how
        The kernel and the laws besides, such as ``Linux 6.18``.
    note
        The command.
    """
    made = ", ".join(part for part in (f"Ackclock {_core.version()}", how) if part)
    fields = {
        "title": title,
        "author": "{The Ackclock authors}",
        "year": str(YEAR),
        "url": URL,
        "howpublished": f"{made}, digest of scenarios and rules {digest}",
        "note": note,
    }
    width = max(map(len, fields))
    lines = [f"  {name:{width}} = {{{text}}}" for name, text in fields.items() if text]
    return f"@misc{{ackclock-{key}-{digest[:8]},\n" + ",\n".join(lines) + "\n}\n"
