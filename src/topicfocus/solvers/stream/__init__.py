"""Both objectives from batches: a bounded sample of the documents, and sums over the others."""
