"""Table I: users of a web browser, and their page times."""
