"""What training needs to know of GRUs and LSTMs: their weights, where these start, their gradient. The loop is the one loop."""
