"""Networks that are asked about any language, or in any way: after every token, over any alphabet, with padding."""
