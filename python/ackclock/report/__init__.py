"""Reports: one self-contained page, and the data behind every figure."""

import lazy_loader

from ackclock.base.extras import REPORT, need

need("reports need", *REPORT, extra="report")

# A command that runs a study needs the page alone; the pages of runs need the classes of scenarios.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
