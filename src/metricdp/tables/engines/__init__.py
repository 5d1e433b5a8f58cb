"""Engines that sanitize a table where its rows are."""
