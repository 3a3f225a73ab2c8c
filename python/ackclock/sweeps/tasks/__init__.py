"""Tasks of a worker: a block of cells, or the reading of a study."""
