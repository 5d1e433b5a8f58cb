"""What records can be, what may be asked of them, and how many there are, counted where the table is."""
