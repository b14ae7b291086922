"""What lesson 15 asks before it shows."""

from rooflab.exercises.guesses import Question, choice, share

QUESTIONS = (
    Question("15-four", "A cluster of 2 × 2 blocks, with square tiles: how many times fewer "
             "numbers does it fetch than if each block fetched its own?", "×", 1, 100),
    choice("15-room", "An H100 has 132 SMs, in groups of 18, 18, 18, 16, 16, 16, 16 and 14. A "
           "block fills an SM. In clusters of 4 × 2, how many SMs get a block?",
           "112", "120", "128", "132"),
    share("15-gain", "Two blocks share B, and fetch 1.5 times fewer bytes. How much faster did the "
          "product become, in per cent?", 0.5),
)  # fmt: skip
