"""Energy: what operations and bytes cost in joules, by published tables and by this machine."""
