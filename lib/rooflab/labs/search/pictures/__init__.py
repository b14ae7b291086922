"""Pictures of searches: the trail of a beam search, and an e-graph as it grows."""
