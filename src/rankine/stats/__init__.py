"""From one value per query to a summary with its uncertainty."""
