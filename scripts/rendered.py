"""Hooks of MkDocs (`make site`): the navigation, and files outside docs that pages link to.

The documents are read on GitHub, too, so their links lead through the repository: pages of `docs`
link to `../CONTRIBUTING.md` and `../examples`. Here such files become pages of the site.
"""

from __future__ import annotations

import posixpath
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FRONT = "README.md"

#: Pages of the repository's first folder that are pages of the site, too.
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE-APACHE", "LICENSE-MIT")
#: The repository's README, which is not the site's first page.
ABOUT = "about.md"

_LINK = re.compile(r"(!?\[(?:[^\]\\]|\\.)*\])\(([^)#\s]*)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)


def links(text: str) -> list[tuple[str, str]]:
    """Return the links of a page to files, each with its anchor, without those in code."""
    found: list[tuple[str, str]] = []
    for prose in _FENCE.split(text)[::2]:
        for shown, target, anchor in _LINK.findall(prose):
            if not shown.startswith("!") and "://" not in target:
                found.append((target, anchor.removeprefix("#")))
    return found


def resolved(page: str, target: str) -> str:
    """Return the file of the site that ``target``, written on ``page``, is a link to.

    Both are names in the site: files of `docs` without that folder, others from the repository's.
    """
    if not target:
        return page
    folder = "" if page in (*BESIDE, ABOUT) else "docs"
    path = posixpath.normpath(posixpath.join(folder, posixpath.dirname(page), target))
    if path == "README.md":
        return ABOUT
    path = path.removeprefix("docs/")
    if path == "docs":
        return FRONT
    if path == "examples" or (DOCS / path).is_dir():
        return f"{path}/README.md"
    return path


def sections(front: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the sections of the front page, each with the pages that it links to."""
    for part in re.split(r"^## ", front, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        pages = [resolved(FRONT, target) for target, _ in links(body) if target]
        yield title, list(dict.fromkeys(pages))


def navigation(front: str) -> list[Any]:
    """Return the navigation: the front page's sections; a folder's first page brings the others."""
    nav: list[Any] = [{"Start": FRONT}]
    seen = {FRONT}
    for title, pages in sections(front):
        entries: list[Any] = []
        for page in pages:
            if page in seen:
                continue
            seen.add(page)
            if page.endswith("/README.md") and (DOCS / page).is_file():
                text = (DOCS / page).read_text(encoding="utf-8")
                folder = posixpath.dirname(page)
                inside = [resolved(page, target) for target, _ in links(text)]
                inside = [each for each in dict.fromkeys(inside) if each not in seen]
                inside = [each for each in inside if posixpath.dirname(each) == folder]
                rest = (path.relative_to(DOCS).as_posix() for path in (DOCS / folder).glob("*.md"))
                inside += sorted(each for each in rest if each not in (page, *inside))
                if folder == "decisions":
                    entries.append(page)
                    continue
                seen.update(inside)
                entries.append({folder.capitalize(): [page, *inside]})
            else:
                entries.append(page)
        nav.append({title: entries})
    return nav


def examples_page() -> str:
    """Return the page that lists the examples, each with its first sentence."""
    lines = ["# Examples", "", "Files of the tutorials and guides; tests run them.", ""]
    for path in sorted((ROOT / "examples").iterdir()):
        if path.suffix in (".toml", ".py"):
            first = path.read_text(encoding="utf-8").partition("\n")[0].strip('# "')
            lines.append(f"* [{path.name}]({path.name}): {first.partition(': docs/')[0]}")
    return "\n".join([*lines, ""])


def on_config(config: Any) -> Any:
    """Set the navigation."""
    config.nav = navigation((DOCS / FRONT).read_text(encoding="utf-8"))
    return config


def on_files(files: Any, *, config: Any) -> Any:
    """Add what pages link to outside `docs`."""
    # Tests load this module where there is no MkDocs.
    kind = import_module("mkdocs.structure.files").File
    beside = [ROOT / name for name in BESIDE if (ROOT / name).is_file()]
    beside += [path for path in (ROOT / "examples").iterdir() if path.is_file()]
    for path in beside:
        name = path.relative_to(ROOT).as_posix()
        files.append(kind.generated(config, name, content=path.read_bytes()))
    about = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(kind.generated(config, ABOUT, content=about))
    files.append(kind.generated(config, "examples/README.md", content=examples_page()))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Turn links through the repository into links of the site."""
    here = page.file.src_uri
    if here == "examples/README.md":
        return markdown

    def link(found: re.Match[str]) -> str:
        shown, target, anchor = found[1], found[2], found[3] or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        name = resolved(here, target)
        return f"{shown}({posixpath.relpath(name, posixpath.dirname(here) or '.')}{anchor})"

    parts = _FENCE.split(markdown)
    parts[::2] = [_LINK.sub(link, prose) for prose in parts[::2]]
    return "".join(parts)
