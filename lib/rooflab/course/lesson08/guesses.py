"""What lesson 08 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("08-orders", "The product's three loops in their six orders: how many times faster is "
             "the fastest than the slowest?", "×", 1, 10_000),
    Question("08-rows", "Eight rows of C at a time, not one: how many times faster is the program?",
             "×", 0.5, 50),
)
