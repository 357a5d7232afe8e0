"""What kernels read: flat columns of numbers; NumPy alone.

- judged: judged items with their ranks; pool: the grades of a query; groups: what is
  known of items and users by number.
- lists: the items of whole lists; paired: two rankings; tallies: what lists show, in
  counts that add up.
- order: ranks, ties and who comes first among equals; keys: 64-bit keys of items and
  queries; segments and inversions: arithmetic on columns that are cut into lists.
- joined: joined tables with the ids of their queries, and what a convention says about
  queries, floors, pools and unjudged items.
"""
