"""Items of paper 5."""
