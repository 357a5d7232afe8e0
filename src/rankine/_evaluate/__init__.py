"""From what a user asks to results: plan, engine, summaries, notes."""
