"""The request film: where the time of a language model's step goes, as batch and context slide."""
