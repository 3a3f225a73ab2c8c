"""Numbers of the paper, each with its table, figure or section."""

from __future__ import annotations

UTILISATION = 1.0
"""TODO table and page. A buffer of one bandwidth-delay product keeps a link busy (a rule)."""
