"""From a user's request to results: plan, engine, summaries, notes.

- options: the options of functions, commands and batches; plan: their effect on each
  metric; evaluate: the entry point, and the Job that all engines share.
- engine: from a plan and data to an Evaluation (result; its charts and reports are in
  report_methods). summary: from values to one number; sums: the same from sums; means:
  the numbers by name; intervals: those of many metrics at once.
- part: the results of some queries, which add up; arrivals: which queries and items
  have come; shown: the items in lists; findings: facts about the data, which notes and
  warnings put into words.
- memory: whether a run is read at once or in parts, and within which limit.
- trail, worst, curve, custom, check, similarity, debias: further functions and methods.
- scalars: numbers by names for loggers; many: several collections, and their means;
  pools: with fewer judgements.
- compare, gate, reconcile, predictions, rankings, logs, batches: a package each.
"""
