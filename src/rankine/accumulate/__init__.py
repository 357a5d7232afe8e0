"""Results of data that come in batches, or from several machines."""
