"""Columns as Arrow arrays: the texts of a source without types, and exact numbers in and out."""
