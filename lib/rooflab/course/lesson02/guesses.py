"""What lesson 02 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("02-expression", "The same arithmetic: how many times AXPY's time does NumPy's 0.5 * "
             "x + y take?", "×", 0.5, 50),
    Question("02-out", "With no new array: how many times AXPY's time does it take now?",
             "×", 0.5, 50),
    Question("02-chunked", "In pieces of the best size: how many times AXPY's time does it take?",
             "×", 0.5, 50),
    Question("02-warm", "AXPY on vectors that stay in the cache: how many times the bandwidth of "
             "memory?", "×", 0.1, 100),
)
