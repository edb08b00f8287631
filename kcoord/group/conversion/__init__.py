"""Conversion: a classic group of Connect workers becomes a connect group, and back."""
