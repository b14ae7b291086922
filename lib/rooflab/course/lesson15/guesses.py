"""What lesson 15 asks before it shows."""

from rooflab.exercises.guesses import Question, choice, share

QUESTIONS = (
    Question("15-four", "A cluster of 2 × 2 blocks, with square tiles: how many times fewer "
             "numbers does it fetch than its four blocks would alone?", "×", 1, 10),
    choice("15-room", "An H100 has 132 SMs, and each of these blocks needs one for itself. They "
           "come in clusters of 4 × 2. How many SMs get a block?", "112", "120", "128", "132"),
    share("15-gain", "Two blocks share B, and fetch 1.5 times fewer bytes. How much faster is the "
          "whole product, in per cent?", 0.5),
)  # fmt: skip
