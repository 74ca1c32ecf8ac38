"""Strings and their files, the paper's training sets and long tests (`strings`), and its runs' initial weights."""
