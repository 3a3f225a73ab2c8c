"""The simulator's own speed, and that of others on the same workloads."""
