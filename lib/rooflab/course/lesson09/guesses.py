"""What lesson 09 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("09-search", "Ten seconds of search: how many times faster than the loops as "
             "written?", "×", 1, 10_000),
    Question("09-rewrite", "A(Bv) instead of (AB)v, with about 512 times fewer FLOPs: how many "
             "times faster is it?", "×", 1, 10_000),
)
