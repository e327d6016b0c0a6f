"""Rules about money and rounds, as pure values and functions: no I/O, clock, thread or float."""
