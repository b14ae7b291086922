"""What lesson 16 asks before it shows."""

from rooflab.exercises.guesses import Question, share

QUESTIONS = (
    Question("16-loads", "32 multiply-adds take 64 numbers from shared memory. How many "
             "instructions of the hot loop load these 64 numbers?", "", 1, 1000),
    share("16-share", "What share of the instructions in the hot loop of the tiled kernel are "
          "multiply-adds?"),
    Question("16-prefetch", "Each thread of a warp asks L2 for 128 bytes that begin 128 bytes "
             "after its own number. The 32 threads ask for 4,096 bytes in all. How many different "
             "bytes do they ask for?", "B", 32, 4096),
)  # fmt: skip
