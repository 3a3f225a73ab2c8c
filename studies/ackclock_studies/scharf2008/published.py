"""The paper's numbers: page times, and what its other figures and tables state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Table I, page times: by model and version of HTTP: slow start and Quick-Start, in s.
TABLE_1: Mapping[tuple[str, str], tuple[float, float]] = {
    ("small", "1.0"): (0.97, 0.70),
    ("small", "1.1"): (0.65, 0.48),
    ("small", "1.1+pipelining"): (0.62, 0.46),
    ("large", "1.0"): (2.97, 1.47),
    ("large", "1.1"): (1.49, 0.92),
    ("large", "1.1+pipelining"): (1.36, 0.81),
}

#: The numbers, or the words, of each published statement, by claim.
STATED: Mapping[str, Mapping[str, Any]] = {
    "scharf-f4f6": {"slow_start_s": ">= 1"},
    "scharf-f7": {"granted_mbps": [81.92, 81.92, 81.92]},
    "scharf-f8": {"first": [40.96, 81.92, 81.92], "second": [40.96, 81.92, 0.0]},
    "scharf-f9": {"granted": "(q - u)/(D H)"},
    "scharf-f10": {"speedup": "several hundred percent between 10 kB and 10 MB"},
    "scharf-t2": {"mpps": [3.9, 3.9, 3.9, 3.8], "delay_us": [16, 16, 16, 17]},
    "scharf-f11": {"added_us": "< 1"},
}
