"""Strings and their files (`strings`), and the paper's training sets, long tests and initial weights (`paper`)."""
