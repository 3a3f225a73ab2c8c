"""Cases of suites, their cells and verdicts, and what is kept of them."""
