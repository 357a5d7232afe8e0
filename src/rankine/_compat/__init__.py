"""Other libraries' interfaces over our own numbers.

`pytrec_eval` has the evaluator of pytrec_eval-terrier, and what stands beside it.
"""
