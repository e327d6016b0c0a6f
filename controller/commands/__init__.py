"""One module a subcommand: each reads its arguments, calls the rest, and prints the answer."""
