"""Search for the worst cell of a plan, and the smallest scenario that shows it."""
