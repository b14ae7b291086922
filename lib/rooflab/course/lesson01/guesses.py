"""What lesson 01 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("01-speed-ratio", "All data start in memory. How many times faster is GEMM than AXPY, "
             "in FLOP/s?", "×", 1, 10_000),
    Question("01-gemv-ratio", "All data start in memory. How many times faster is GEMV than AXPY, "
             "in FLOP/s?", "×", 0.5, 1000),
    Question("01-small-ratio", "And with AXPY on N numbers only: how many times faster is GEMM, in "
             "FLOP/s?", "×", 1, 10_000),
)
