"""Where entries are kept: one schema, in SQLite and in PostgreSQL."""
