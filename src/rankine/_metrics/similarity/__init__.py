"""One ranking against another: overlap, correlations, and their weights."""
