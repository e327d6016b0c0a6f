"""The self-test: a technician is walked along every wire of a table, and what came of it is kept.

It runs on the same pins, desk, keypad and displays as the daemon, in one thread and without it.
The coin test at its end plays real rounds on a ledger that is thrown away.
"""
