"""The focused objective: evidence of words about the target, and the constrained pass."""
