"""What lesson 13 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("13-stairs", "Ten kernels for the same product on an RTX A6000, all of them correct: "
             "how many times faster is the tenth than the first?", "×", 1, 1000),
    Question("13-naive", "A warp of 32 threads reads A[row, k], where each thread has its own row: "
             "how many sectors of 32 bytes does it ask for?", "", 1, 100),
    Question("13-tile", "Tiles of 32 × 32 numbers in shared memory: how many times fewer sectors "
             "does the kernel ask for than the coalesced one?", "×", 1, 10_000),
    Question("13-banks", "A warp reads a column of a tile of 32 × 32 words: how many turns does it "
             "take at 32 banks?", "", 1, 100),
    Question("13-registers", "8 × 8 numbers of C in the registers of a thread: how many times "
             "fewer turns than the tiled kernel does it take at shared memory?", "×", 1, 100),
)  # fmt: skip
