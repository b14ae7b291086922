"""Schedules of a loop nest, tried one after the other: moves, prediction, kernels, beam search."""
