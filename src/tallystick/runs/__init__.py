"""The paper's grid, blocks of seeds, and the run directory that they are kept in."""
