"""Stores of sweeps: what is kept of each cell, and questions of it."""
