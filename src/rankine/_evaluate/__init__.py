"""From what a user asks to results: plan, engine, summaries, notes.

- options: what users say, for functions, commands and batches; plan: what that means
  for each metric; evaluate: the entry point, and the Job that all engines share.
- engine: from a plan and data that have been read to an Evaluation (result, with what
  it draws in report_methods). summary: from values to one number, means of all of them,
  intervals; sums: the same from sums.
- part: what some queries come to, and adds up; arrivals: who came; shown: what lists
  show; findings: what was seen of the data. notes and warnings put that into words.
- memory: whether a run is read at once or in parts, and within which limit.
- trail, worst, curve, custom, check, similarity, debias: what else may be asked.
- compare, gate, reconcile, predictions, rankings, logs, batches: a room each.
"""
