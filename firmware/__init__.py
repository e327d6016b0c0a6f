"""Sensors and pins. Nothing here knows a meter or a rule."""
