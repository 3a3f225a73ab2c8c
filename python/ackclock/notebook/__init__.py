"""The page's view of a run inside a notebook: :func:`ackclock.show`."""
