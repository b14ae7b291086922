"""What lesson 09 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("09-search", "A search of ten seconds: by what factor is what it finds faster than "
             "the loops as written?", "×", 1, 10_000),
    Question("09-rewrite", "A(Bv) in place of (AB)v, with 512 times fewer FLOPs: by what factor is "
             "it faster?", "×", 1, 10_000),
)
