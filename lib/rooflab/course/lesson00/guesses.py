"""What lesson 00 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("00-nine", "You have seen how long one multiply-add on each number takes. How long do "
             "9 take?", "ms", 1, 1000, ((9, "You multiplied: nine times as long as one."),)),
    Question("00-bend", "From how many multiply-adds per number on does the time begin to rise?",
             "multiply-adds", 1, 1000),
)
