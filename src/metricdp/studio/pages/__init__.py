"""The pages, one a file; each has a function ``build``."""
