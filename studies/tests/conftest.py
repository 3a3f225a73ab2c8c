from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Collection, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ackclock.plots import style
from ackclock.studies.framework import page


def _load_fake() -> type:
    """Load the fake core by its path: the tests are not a package."""
    path = Path(__file__).with_name("fake_core.py")
    spec = importlib.util.spec_from_file_location("studies_fake_core", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.FakeCore


@pytest.fixture(scope="session")
def fake_core() -> type:
    return _load_fake()


@contextmanager
def _drawn(but: Collection[str] | None) -> Generator[None]:
    real = style.rendered

    def rendered(made: Any, key: str, *, title: str = "", description: str = "") -> style.Rendered:
        if but is None or key in but:
            return real(made, key, title=title, description=description)
        return style.Rendered(f'<svg id="{key}-drawn"></svg>', "<svg></svg>", b"", b"")

    with pytest.MonkeyPatch.context() as patch:
        # Fonts in PDFs are most of a report's time, and `test_plots` and `test_report` see to them.
        patch.setattr(style, "to_pdf", lambda _: b"")
        patch.setattr(style, "to_png", lambda _: b"")
        for module in (style, page):
            patch.setattr(module, "rendered", rendered)
        yield


Drawing = Callable[[Collection[str] | None], AbstractContextManager[None]]


@pytest.fixture(scope="session")
def drawn_alone() -> Drawing:
    """Return a context in which the named figures are drawn as SVG (None: all), and no others.

    The others are made of their tables, so that a mistake in their code is still noticed.
    """
    return _drawn
