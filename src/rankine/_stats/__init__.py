"""Statistics on arrays: exact sums and intervals."""
