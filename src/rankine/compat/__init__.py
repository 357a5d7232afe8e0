"""Faces of other libraries, with rankine behind them: one import changes."""
