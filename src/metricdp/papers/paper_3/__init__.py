"""Items of paper 3."""
