"""The lessons, a folder each: its exercises, sentences and guesses, and data that they need."""
