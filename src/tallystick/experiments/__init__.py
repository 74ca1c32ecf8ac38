"""The paper's grid, blocks of seeds, the run directory, and the one command that runs it all."""
