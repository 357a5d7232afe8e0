"""Comparing systems: their values side by side, tests, and what moved."""
