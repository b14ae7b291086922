"""What lesson 07 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("07-textbook", "The same multiply-adds on one core: how many times faster is the "
             "library than the textbook's three loops?", "×", 1, 1000),
    Question("07-fits", "The cache holds exactly three tiles: how many times the formula's bytes "
             "does it move?", "×", 0.5, 50),
)
