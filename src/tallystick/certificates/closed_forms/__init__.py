"""Networks whose state is a closed form of what was read, decided at every length."""
