"""Cells with one unit: searches, sorted strings, many at once, exact accuracies, regions."""
