"""What people see: text and pixels from view data. No rule and no pin is decided here."""
