"""Readings of studies: other values of what a paper leaves open."""
