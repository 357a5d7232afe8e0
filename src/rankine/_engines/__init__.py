"""Other ways to the same numbers: the same kernels where the data are."""
