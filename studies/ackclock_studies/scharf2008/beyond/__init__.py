"""Other ways to begin than those of the paper."""
