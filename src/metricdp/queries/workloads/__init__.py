"""Linear queries over a universe, and the noise shared among them."""
