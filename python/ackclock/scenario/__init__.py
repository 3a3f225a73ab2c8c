"""Scenarios as Python values: a class for each table of a scenario file."""
