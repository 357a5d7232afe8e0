"""Other places for the same numbers: Spark.

- spark: the entry point; requirements: what of a request Spark can do; frames: columns
  of its frames, and rows brought together by query, once.
- work: what executors are told, and how they answer; worker: what runs there, for the
  chunks that `chunks` cuts; state: what they send back; refusals: what is refused of
  all data.
- jobs, sessions, files, shipped: jobs, sessions, files and our own code on Spark.
- comparing: compare; rates: ctr; events: logs of events.
"""
