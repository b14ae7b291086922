"""Predict: what a machine allows (the roofline) and what a call will take (the estimate)."""
