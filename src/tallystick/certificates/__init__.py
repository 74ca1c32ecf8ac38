"""How long can a network be trusted? Extremes, horizons, exact accuracies, certificates and their checker. No JAX."""
