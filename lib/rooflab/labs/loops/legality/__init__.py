"""Whether a schedule is legal, decided in several ways that check each other."""
