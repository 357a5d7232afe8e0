"""What the faces of other libraries are made of.

- ranx_lists: its Qrels and Run; ranx_metrics: its evaluate and plot; ranx_report: its
  compare; ranx_fusion: its fuse, normalize and optimize_fusion.
"""
