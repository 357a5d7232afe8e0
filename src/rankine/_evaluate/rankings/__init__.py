"""Functions on two rankings as people write them."""
