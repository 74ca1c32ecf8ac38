"""Verdicts on GRUs and LSTMs: sound bounds by interval arithmetic from below, failing strings from above. No JAX."""
