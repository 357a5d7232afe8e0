"""Metrics of what users did, from a log of events."""
