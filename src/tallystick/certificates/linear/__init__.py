"""Linear networks of any dimension: decided by sorting what brackets add, length by length and for all lengths."""
