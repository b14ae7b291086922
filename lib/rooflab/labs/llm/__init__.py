"""Language models: their sizes, the operations of a step, how long a step takes, a real loop."""
