"""One ranking against another: overlap, correlations, and their weights.

The package is not called similarity, since that is a function of `rankine`.
"""
