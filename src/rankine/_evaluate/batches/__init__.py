"""Results from data that come in parts."""
