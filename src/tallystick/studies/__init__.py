"""What is asked of many runs: the paper's experiment, cells and methods side by side, sweeps, and reasons."""
