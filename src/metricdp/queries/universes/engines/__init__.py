"""Cells counted where a table is: one text of SQL for DuckDB, PostgreSQL and Spark."""
