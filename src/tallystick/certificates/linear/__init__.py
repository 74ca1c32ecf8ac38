"""Linear networks of any dimension: decided by sorting what brackets add or by lattice paths, and for all lengths."""
