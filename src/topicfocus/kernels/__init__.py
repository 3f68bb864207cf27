"""Numba kernels: compiled loops over the nonzero counts of documents."""
