"""Places where the cells of a sweep run: threads, processes, a cluster."""
