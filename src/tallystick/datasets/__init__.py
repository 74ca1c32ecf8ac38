"""Strings to arrays: training sets, the long test suite, files of strings, the published initial weights."""
