"""Verdicts on networks in floating point that hold whatever the order in which a library computes."""
