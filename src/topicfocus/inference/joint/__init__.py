"""The joint objective: statistics of documents, updates of the parameters, and bounds."""
