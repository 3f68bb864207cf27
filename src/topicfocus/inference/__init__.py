"""The joint objective: its state, its statistics, its updates and its bounds."""
