"""Solvers of the joint objective: where they start, what a step is, which epoch is kept."""
