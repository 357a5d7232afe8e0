"""Results saved as JSON, and loaded again."""
