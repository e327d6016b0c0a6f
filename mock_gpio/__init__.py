"""A bench without a Raspberry Pi: simulated sensors on a simulated clock, chosen explicitly."""
