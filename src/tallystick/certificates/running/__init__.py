"""Whatever is callable: run on every string up to a length."""
