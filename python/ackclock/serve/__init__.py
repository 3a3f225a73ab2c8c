"""The laboratory in a browser over the native core: ``ackclock serve``.

``guard`` says who is answered, ``folder`` which files there are, ``jobs`` runs scenarios and tells
readers of them, ``app`` brings them together, and ``server`` is the process.
"""
