"""Items of paper 4."""
