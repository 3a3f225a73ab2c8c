"""The site of the documents: what is two clicks from its front page, and how Markdown is drawn."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from support import ROOT

Script = Callable[[str], ModuleType]

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
CLICKS = 2

#: Things that people look for: the page, and the heading or anchor on it.
THINGS = {
    "install it": ("guides/install.md", "install"),
    "what is not supported": ("about.md", "what-is-not-supported"),
    "a first run": ("tutorials/first-scenario.md", "run-it"),
    "the keys that most files need": ("guides/twelve-keys.md", "the-twelve-keys"),
    "every key of a flow": ("reference/scenario.md", "flow"),
    "the units of quantities": ("reference/scenario.md", "texts"),
    "a file to begin from": ("examples/README.md", "examples"),
    "the options of `run`": ("reference/cli.md", "ackclock-run-file"),
    "the columns of the table of flows": ("reference/results.md", "flows"),
    "the same from Python": ("guides/python.md", "a-scenario-and-its-run"),
    "many runs at once": ("guides/python.md", "many-runs"),
    "two senders with intervals": ("tutorials/compare-two-senders.md", "one-run-is-one-draw"),
    "the kernel beside the simulation": ("tutorials/live.md", "compare"),
    "what a file may do to my machine": ("guides/trust.md", None),
    "short web connections": ("guides/traffic.md", None),
    "a video, its stalls and start-up": ("guides/video.md", "the-player"),
    "a wireless link": ("guides/video.md", "wireless-links"),
    "random losses and reordering": ("guides/impairments.md", None),
    "a queue with CoDel": ("queues/codel.md", None),
    "how CUBIC is done here": ("algorithms/cubic.md", None),
    "a congestion control of one's own": ("tutorials/your-own-law.md", None),
    "a packetdrill script": ("guides/drill.md", None),
    "packets in Wireshark": ("guides/pcap.md", None),
    "a paper run again, and what holds": ("studies/scharf2008.md", None),
    "how it compares with Linux": ("validation/live-kernel.md", None),
    "how fast it is": ("performance.md", None),
    "how to cite it": ("guides/cite.md", "ackclock"),
}


def text_of(site: ModuleType, page: str) -> str | None:
    """Return the source of a page of the site; None of a file that is no page."""
    if page == "about.md":
        return (ROOT / "README.md").read_text(encoding="utf-8")
    if page == "examples/README.md":
        return site.examples_page()
    path = ROOT / page if page in site.BESIDE else DOCS / page
    return path.read_text(encoding="utf-8") if path.suffix == ".md" else None


def anchors(text: str) -> set[str]:
    """Return the anchors of a page, as GitHub and the site make them."""
    found = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        bare = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        found.add(re.sub(r"[^\w\- ]", "", bare.lower()).strip().replace(" ", "-"))
    return found


def clicks(site: ModuleType) -> dict[str, int]:
    """Return the pages by the least number of links in texts that lead to them."""
    far = {site.FRONT: 0}
    queue = [site.FRONT]
    for page in queue:
        text = text_of(site, page)
        for target, _ in site.links(text) if text else ():
            if (to := site.resolved(page, target)) not in far:
                far[to] = far[page] + 1
                queue.append(to)
    return far


def test_there_are_twenty_things() -> None:
    assert len(THINGS) >= 20


@pytest.mark.parametrize("thing", THINGS)
def test_a_thing_is_two_clicks_from_the_front_page(thing: str, script: Script) -> None:
    site = script("rendered")
    page, anchor = THINGS[thing]
    assert clicks(site).get(page, 99) <= CLICKS
    text = text_of(site, page)
    assert text is not None
    assert anchor is None or anchor in anchors(text), sorted(anchors(text))


def test_every_page_is_reached(script: Script) -> None:
    # A new algorithm is its file and its page; only the navigation has it at once.
    pages = {page for page in PAGES if not page.startswith(("algorithms/", "queues/", "apps/"))}
    assert pages <= set(clicks(script("rendered")))


def test_every_page_but_the_records_is_in_the_navigation(script: Script) -> None:
    site = script("rendered")
    text = str(site.navigation((DOCS / "README.md").read_text(encoding="utf-8")))
    for page in PAGES:
        assert f"'{page}'" in text or page.startswith("decisions/0"), page


@pytest.mark.parametrize("page", ["about.md", "CONTRIBUTING.md", *PAGES])
def test_links_lead_to_headings(page: str, script: Script) -> None:
    site = script("rendered")
    for target, anchor in site.links(text_of(site, page) or ""):
        to = site.resolved(page, target)
        if anchor and (text := text_of(site, to)) is not None:
            assert anchor in anchors(text), f"{page}: {target}#{anchor}"


@pytest.mark.parametrize("page", ["../README.md", "../CONTRIBUTING.md", *PAGES])
def test_the_site_draws_what_github_draws(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    # Mermaid would be loaded from another server, and in the site alone.
    assert "```mermaid" not in text
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        begins = re.match(r"(\* |- |\d+\. |\|)", line)
        # A list or a table without an empty line before it is text for Python-Markdown.
        ends = not before or before.startswith(("* ", "- ", "  ", "|")) or before[0].isdigit()
        assert not begins or ends, f"{page}:{number}: {line}"
        # It also wants four columns before a list in a list.
        assert not re.match(r" {1,3}[*-] ", line), f"{page}:{number}: {line}"
        before = line


@pytest.mark.parametrize("page", sorted(page for page in PAGES if page.startswith("studies/")))
def test_a_study_begins_with_what_was_claimed_and_what_holds(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    # The first heading, and in each row the statement and what holds before the verdict.
    first = text.partition("\n## ")[2]
    assert first.startswith("What the paper claims, and what of it holds\n")
    section = first.partition("\n## ")[0]
    table = re.findall(r"^\| (.+) \|$", section, re.MULTILINE)
    (head, *rows) = [row.split(" | ") for row in table if not row.startswith("---")]
    assert head[:3] == ["the paper's statement", "what of it holds", "verdict"]
    # A study whose readings were searched tells the best, too; test_readings.py holds the column.
    assert head[3:] in ([], ["under the best single reading"])
    assert {len(row) for row in rows} == {len(head)}
    judged = {"reproduced", "not reproduced", "under-specified"}
    assert all(said and verdict in judged for _, said, verdict, *_ in rows)
    assert "\n## Cite\n" in text
    assert "\n```bibtex\n" in text
    study = import_module(f"ackclock_studies.{Path(page).stem}.study")
    assert len(rows) == len(study.DEFINITION.claims)


def test_the_citation_is_of_this_version() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"][
        "package"
    ]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    page = (DOCS / "guides/cite.md").read_text(encoding="utf-8")
    assert f"version = {{{version}}}" in page
