"""Items of paper 1."""
