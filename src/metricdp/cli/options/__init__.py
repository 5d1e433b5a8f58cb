"""Options and arguments that several commands share: how each is read, and what is wrong with it."""
