"""The gate: a verdict on a run, against a baseline that was saved."""
