"""What a recommender would have earned, from the log of another one."""
