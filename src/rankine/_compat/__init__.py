"""Other libraries' interfaces over our own numbers.

- `pytrec_eval`: the evaluator of pytrec_eval-terrier, and what stands beside it.
- `trec_eval`: the arguments of trec_eval, and its lines.
- `preferences`: how many preferences a ranking fulfils.
- `ranx_lists`: Qrels and Run of ranx; `ranx_metrics`: its evaluate and plot;
  `ranx_report`: its compare; `ranx_fusion`: its fuse, normalize and optimize_fusion.
"""
