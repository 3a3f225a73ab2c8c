"""The commands of ``ackclock``, a module each."""
