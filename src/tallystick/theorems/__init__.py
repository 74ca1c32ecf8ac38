"""Each theorem as a reader goes through it: statement, cases, steps, with a solver's word on every step."""
