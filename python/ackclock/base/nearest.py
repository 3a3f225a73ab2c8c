"""The nearest word that is known, for refusals."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["near", "nearest", "nearest_first"]


def near(word: str, known: Iterable[str]) -> str | None:
    """Return the word of ``known`` that was most likely meant, if one is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - asked for after a mistake alone

    plain = {each.lower().replace("-", "").replace("_", ""): each for each in known}
    close = get_close_matches(word.lower().replace("-", "").replace("_", ""), plain, n=1)
    return plain[close[0]] if close else None


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the end of a refusal: the nearest word that is known, or all of them."""
    known = list(known)
    if close := near(word, known):
        return f" (did you mean `{close}`?)"
    return f", expected one of {', '.join(known)}"


def nearest_first(word: str, known: Iterable[str]) -> str:
    """Return the end of a refusal: the nearest word that is known, then all of them."""
    known = list(known)
    listed = ", ".join(f"`{each}`" for each in known)
    if close := near(word, known):
        return f"; did you mean `{close}`? Known: {listed}"
    return f", expected one of {listed}"
