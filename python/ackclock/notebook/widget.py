"""The widget of the view: the page's own program, and the tables of a run as its buffer."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

import anywidget
import traitlets

from ackclock import _core
from ackclock.base.errors import BadInput

if TYPE_CHECKING:
    from ackclock.runs.run import Run

__all__ = ["View"]


def _bundled(name: str) -> str:
    try:
        return (resources.files("ackclock.notebook") / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(
            "show: this package was built without the view; `make web build` makes both"
        ) from None


class View(anywidget.AnyWidget):
    """The view of one run.

    Parameters
    ----------
    run
        The run.

    Raises
    ------
    BadInput
        There are many runs, or the package was built without the view.
    """

    data = traitlets.Bytes().tag(sync=True)
    height = traitlets.Int(720).tag(sync=True)

    def __init__(self, run: Run, *, height: int = 720) -> None:
        texts: object = getattr(run, "scenario_texts", None)
        if not isinstance(texts, list | tuple):
            raise BadInput(f"show: found {type(run).__name__}, expected a run")
        if len(run.scenario_texts) != 1:
            raise BadInput("show: expected one run, not many")
        if isinstance(height, bool) or not isinstance(cast("object", height), int) or height < 1:
            raise BadInput(f"show: height: found {height!r}, expected a number of pixels")
        self._esm = _bundled("view.js")
        self._css = _bundled("view.css")
        self._scenario = run.scenario_texts[0]
        self._live = run.live is not None
        super().__init__(data=run.page_bytes(), height=height)
        self.on_msg(self._heard)

    def _heard(self, _: object, asked: Any, __: object) -> None:
        self.hear(asked)

    def hear(self, asked: Any) -> None:
        """Answer a request of the view: the segments of the run, which are simulated again."""
        if not isinstance(asked, dict) or asked.get("do") != "segments":
            return
        if self._live:
            self.send({"error": "the segments of a run on real packets are in its captures"})
            return
        text = {"file": "scenario.json", "text": self._scenario}
        request = {"do": "segments", "text": text, "from_s": 0, "until_s": 1e9}
        self.send({"segments": True}, [_core.answer(json.dumps(request), ".")])
