"""Judgements and runs as objects, which users look at, cut, filter and save.

- views: `Run` and `Qrels`, and `read_run` and `read_qrels`, which make them.
- several: runs by their names, and the items that they propose to be judged.
"""
