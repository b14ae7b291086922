"""What lesson 14 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("14-tile", "Kernel 3 computes tiles of 128 × 128 and reaches 498 TFLOP/s on an H100. "
             "Kernel 4 computes tiles of 128 × 256: how many TFLOP/s does it reach?", "TFLOP/s",
             10, 1000),
    Question("14-ffma", "16 × 8 × 16 multiply-adds by one instruction of a warp: how many FFMA "
             "of the warp does it replace?", "", 1, 10_000),
    Question("14-overlap", "64 tiles, and copying a tile takes as long as computing it: how many "
             "times as fast is the loop with two buffers?", "×", 1, 100),
    Question("14-row", "1,024 rows become 1,025, with 4,096 columns and k = 4,096: how many times "
             "as long does a library take on an H100?", "×", 0.1, 10),
    Question("14-order", "The 132 tiles of kernel 7's first wave: how many times the bytes of a "
             "group of 16 × 8 tiles do they read?", "×", 0.5, 100),
)  # fmt: skip
