"""Other libraries' interfaces over our own numbers.

- `pytrec_eval` has the evaluator of pytrec_eval-terrier, and what stands beside it.
- `ranx_lists` has Qrels and Run of ranx, `ranx_metrics` its evaluate and plot,
  `ranx_report` its compare, `ranx_fusion` its fuse, normalize and optimize_fusion.
"""
