"""The reward that recommendations would have earned, estimated from a log."""
