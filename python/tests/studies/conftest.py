from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


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
