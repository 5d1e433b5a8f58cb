"""Tables where they are, read by ibis: DuckDB, PostgreSQL and Spark, and files and frames through DuckDB."""
