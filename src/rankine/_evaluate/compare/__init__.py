"""Comparing systems: their values side by side, tests, and the queries that moved."""
