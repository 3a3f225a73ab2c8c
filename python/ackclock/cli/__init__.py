"""The command ``ackclock``."""
