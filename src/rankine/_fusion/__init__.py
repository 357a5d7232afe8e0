"""Fusion: several runs become one, whose items have the scores that all of them give.

- ballots: the lists of all runs, and the votes of these lists on each item.
- norms: what makes the scores of different runs comparable; methods: a number for each
  item, made of its votes; names: how users may spell both.
- join: runs as they were read, brought to one table of votes; ties: the order of what
  comes of them.
- fuse: the function; recipe: its choices, checked before anything is read.
- tune: parameters found on some queries and tested on others; grids: those that are
  tried; trials: the values that a metric gives them; tuned: what came of it.
"""
