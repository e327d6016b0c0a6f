"""The table process, and the domain that table and hub share."""

VERSION = "0.1.0"
