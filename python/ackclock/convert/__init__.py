"""Scenarios from the command lines of other emulators."""
