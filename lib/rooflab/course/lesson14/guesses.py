"""What lesson 14 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("14-tile", "Kernel 3 makes tiles of 128 × 128 and reaches 498 TFLOP/s on an H100. "
             "Kernel 4 makes tiles of 128 × 256: how many TFLOP/s does it reach?", "TFLOP/s",
             10, 1000),
    Question("14-ffma", "16 × 8 × 16 multiply-adds by one instruction of a warp: how many fused "
             "multiply-adds in fp32 would the warp need?", "", 1, 10_000),
    Question("14-overlap", "64 tiles, and copying a tile takes as long as computing it: how many "
             "times as fast do two buffers make the loop?", "×", 1, 100),
    Question("14-row", "1,024 rows become 1,025, with 4,096 columns and k = 4,096: how many times "
             "as long does a library take on an H100?", "×", 0.1, 10),
    Question("14-order", "132 tiles at a time in kernel 7's order: how many times as many bytes of "
             "A and B do they read as a group of 16 × 8 tiles?", "×", 0.5, 100),
)  # fmt: skip
