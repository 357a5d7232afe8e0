"""reconcile: the same metric under every named convention."""
