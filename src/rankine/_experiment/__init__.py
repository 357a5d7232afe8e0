"""Experiments in YAML: grids of metrics over many runs."""
