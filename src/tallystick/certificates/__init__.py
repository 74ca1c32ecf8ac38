"""How long can a network be trusted? Verdicts on one network and on many, exact accuracies, failing strings. No JAX.

A reading order:

- `verdict`: what is said of a network; `certificate`: the same as a file.
- `certify`: what is handed in, read or run; `deciders`: asked in turn.
- `one_unit`: cells with one unit. `extremes`, `executions` and `search` go length by length; `sorted_strings` and `powers`
  decide a linear cell at all lengths at once; `ensemble` and `linear_ensemble` many cells; `exact_accuracy` counts right
  strings.
- `linear`: linear networks of any dimension, by sorting.
- `boxes`: all other networks, by bounds around groups of strings.
- `running`: whatever is callable, on every string.
- `hints`: other declarations under which a network would go further.
"""
