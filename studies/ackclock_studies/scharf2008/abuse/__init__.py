"""Requests that nobody means, and requests that nobody checks."""
