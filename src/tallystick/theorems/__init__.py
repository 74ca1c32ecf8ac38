"""Each theorem as a reader goes through it: statement, cases, steps, with a solver's word on every step.

`proof` says what a proof is made of, `symbolic` runs a cell on letters; then one file per theorem, in the order of
`THEOREMS` (`theorems.account`), which also writes the account of a proof. `coq` names the same theorems in Coq.
"""
