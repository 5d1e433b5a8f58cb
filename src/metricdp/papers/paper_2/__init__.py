"""Items of paper 2."""
