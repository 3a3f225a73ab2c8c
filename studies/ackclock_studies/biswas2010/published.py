"""The paper's statements; its figures have no numbers beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The numbers, or the words, of each published statement, by claim.
STATED: Mapping[str, Mapping[str, Any]] = {
    "biswas-f1": {"figure": "a drawing without numbers"},
    "biswas-idle-short": {"says": "the two protocols achieve the same performance"},
    "biswas-idle-long": {"says": "the same performance"},
    "biswas-f3": {"says": "CWV above standard TCP for every number of flows"},
    "biswas-f4f5": {"says": "CWV above standard TCP, in both, for every number of flows"},
    "biswas-f6f7": {"says": "a higher rate at moderate congestion without severe overflow"},
    "biswas-f8": {"benefit_rtts": [5, 22]},
    "biswas-f9": {"says": "standard TCP above CWV for every number of flows"},
    "biswas-f10f11": {"says": "a higher rate, and a much larger drop rate"},
    "biswas-t3": {
        "idle": "CWV fair to the application, standard TCP safe for the path",
        "limited": "standard TCP good for the application, CWV fair to the path",
    },
}
