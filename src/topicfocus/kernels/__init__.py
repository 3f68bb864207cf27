"""Compiled loops over sparse counts, and `reference`, the same mathematics in plain NumPy."""
