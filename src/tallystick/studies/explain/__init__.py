"""Why training ends where it does: loss and gradient at the exact counter, the loss around it, and rounding along the way."""
