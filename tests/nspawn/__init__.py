"""A systemd of our own in a container, to try the units in. See container.py."""
