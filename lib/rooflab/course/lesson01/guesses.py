"""What lesson 01 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("01-speed-ratio", "All data start in memory. By what factor is GEMM faster than AXPY, "
             "in FLOP/s?", "×", 1, 10_000),
    Question("01-gemv-ratio", "All data start in memory. By what factor is GEMV faster than AXPY, "
             "in FLOP/s?", "×", 0.5, 1000),
    Question("01-small-ratio", "And with AXPY on N numbers only: by what factor is GEMM faster, in "
             "FLOP/s?", "×", 1, 10_000),
)
