"""Errors, words, numbers for people, claims, and the writer of files: for every room."""
