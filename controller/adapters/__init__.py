"""Edges of the table process: each file binds one port to one technology."""
