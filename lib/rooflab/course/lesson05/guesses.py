"""What lesson 05 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("05-small", "A model of this size, from its weights and your bandwidth: how many "
             "tokens a second does one core make?", "tokens/s", 0.1, 10_000),
    Question("05-two", "Two sequences in every step, not one: how many times more tokens a "
             "second?", "×", 0.1, 10),
    Question("05-many", "Sixty-four sequences in every step, not one: how many times more tokens "
             "a second?", "×", 0.5, 500),
    Question("05-long", "Every sequence has a long past now: how many times longer does a step "
             "take?", "×", 0.5, 100),
)
