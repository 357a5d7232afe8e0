"""Results in the shapes that people and machines read."""
