"""Plans of many runs: axes, cells, and the values that are wanted of each."""
