"""One number about one column: what it is sensitive to, and its private answer."""
