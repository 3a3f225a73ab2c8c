"""Running scenarios, and what comes back: tables, summaries, comparisons, closed forms."""

import lazy_loader

# The package's own names `theory` and `metrics` are these modules.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules={"metrics", "theory"})
