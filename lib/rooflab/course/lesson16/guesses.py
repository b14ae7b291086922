"""What lesson 16 asks before it shows."""

from rooflab.exercises.guesses import Question, share

QUESTIONS = (
    Question("16-loads", "32 multiply-adds take 64 numbers from shared memory. How many "
             "instructions load them?", "", 1, 1000),
    share("16-share", "Of all instructions in the hot loop of the tiled kernel, how many are "
          "multiply-adds?"),
    Question("16-prefetch", "Each thread of a warp asks L2 to fetch 128 bytes, from its own number "
             "on: 4,096 bytes in all. How many different bytes are they?", "B", 64, 4096),
)  # fmt: skip
