"""Leaves: arrays, checks of parameters, words for numbers and ids in sentences."""
