"""Metrics of what users did, from a log of events.

A log becomes a table with a row per user, from which all else is computed::

    events -> log -> users -> sums -> summary, cohort -> variants
                       |        ^
                       +- table +

From events to users:

- `rules`: the options that say how a log is read and counted; `words`, `codes`,
  `times`: kinds of events, columns of few texts, and times, as numbers.
- `sources`: rows of a query; `ubi`: User Behavior Insights; `generate`: logs from known
  rates.
- `events`: columns by their roles, what is left out, and what is known of all events.
- `log`: the events in parts of users, in memory or on disk, in any order.
- `users`: counts of what users did, by one query over such a part.
- `table`: the table of users that is written and read: `users`, and the way back.

From users to metrics:

- `metrics`: what each metric is computed from; metrics of the user's own.
- `sums`: the counts of all users, who of them counts, and their groups; `oddities`:
  what is odd in them.
- `summary`: `summarize` and `Accumulator`; `rates`: a function per metric; `spreads`:
  their intervals; `results`: what results can show and save.
- `funnel`: steps in order, from the sorted events of users.

Tests:

- `abtest`, `calibrate`, `needed`: `ab_test`, `calibrate`, `users_needed`.
- `inputs`: what they are given, a log or a table of users; `cohort`: the users of a
  test, also as they were at the end of each day; `own_table`: those of a table of the
  user's own; `measures`: the metrics.
- `moments`, `quantiles`: what is needed of each arm; `effects`: what differs;
  `variants`: all of it, corrected, with what is doubtful; `abresult`: the result.

Lists that were shown:

- `click_logs`: which items were shown and clicked; `positions`: click rates by rank;
  `clicks`: judgements from clicks; `interleaving`: two rankings in one list.
- `side_by_side`: what judges say beside what users did.
"""
