"""What lesson 03 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("03-tiny", "An 8×8 matrix times an 8×8 matrix, 1024 FLOPs, all in the nearest cache: "
             "how long does the call take on one core?", "ns", 1, 10_000),
    Question("03-stream", "The long AXPY in fp32, its vectors in memory: how long does it take on "
             "one core?", "ms", 0.1, 1000),
    Question("03-many", "A 2048×2048 matrix from memory, times 64 vectors at once: how long does "
             "it take on one core?", "ms", 0.1, 1000),
)
