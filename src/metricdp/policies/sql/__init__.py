"""The SQL that is understood: one select, its conditions, and what they come to on the cells of a policy."""
