"""The gate: a verdict on a run, compared with a saved baseline."""
