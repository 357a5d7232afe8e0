"""What recommendations would have earned, estimated from a log."""
