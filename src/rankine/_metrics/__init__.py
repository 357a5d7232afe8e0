"""Metrics: functions from a table to one number per query; NumPy alone."""
