"""What training needs to know of GRUs and LSTMs: their weights, where these start, and their gradient. The loop is the one loop."""
