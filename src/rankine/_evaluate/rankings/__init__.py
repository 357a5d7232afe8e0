"""Functions on two rankings as users write them."""
