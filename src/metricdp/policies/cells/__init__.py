"""How queries count a column: its declared cells, and the metric between them."""
