"""The table, the figures, the claims and the page, drawn from a run directory and nothing else."""
