"""The focused model, stage by stage."""
