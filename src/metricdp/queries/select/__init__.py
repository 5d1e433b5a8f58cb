"""Questions in SQL about a table, answered under a policy."""
