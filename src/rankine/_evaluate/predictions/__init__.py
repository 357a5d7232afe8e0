"""Predictions of probabilities and numbers: losses and calibration."""
