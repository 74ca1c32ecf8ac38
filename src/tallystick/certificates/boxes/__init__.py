"""Networks of several units: bounds around the states of groups of strings, and strings that may fail."""
