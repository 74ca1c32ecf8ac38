"""How long can a network be trusted? Verdicts on one network and on many, exact accuracies, failing strings. No JAX.

A reading order:

- `verdict`: what is said of a network.
- `certify`: the deciders, asked in turn.
- `extremes`, `executions`, `search`: strings in groups, what a network runs on, and length by length to the first failing
  string.
- `sorted_strings`, `powers`: a linear cell in real arithmetic, all lengths at once; `regions`: the linear cells that are right
  up to N.
- `box_proof`, `suspects`: cells with several units.
- `affine`, `responses`, `sorting`, `limits`: linear networks of any dimension, length by length and all lengths at once.
- `ensemble`, `linear_ensemble`: the horizons of many networks at once.
- `exact_accuracy`, `linear_accuracy`, `subset_sums`: how many of all strings are right.
- `failing_strings`: strings that fail, for use as tests; `certificate`: a verdict as a file.
"""
