"""What counting means: bracket languages, and the machines that accept them. Pure Python, no arrays."""
