"""What lesson 11 asks before it shows."""

from rooflab.exercises.guesses import Question, choice

QUESTIONS = (
    Question("11-sum", "10,000 numbers between 0 and 1, added one after the other, with a sum that "
             "is kept in bf16: what comes out?", "", 10, 100_000),
    Question("11-half", "A product of matrices in fp32, not fp64: how many times as fast is it?",
             "×", 0.1, 20),
    Question("11-error", "Two matrices of 256 × 256 numbers, rounded to bf16 and multiplied: how "
             "large is the error, in per cent of the result?", "%", 1e-5, 100),
    Question("11-observed", "On a B200, a 4-bit format has four times the peak of bf16 and less "
             "than a third of its bytes: how many times as fast was a layer of 4096³?",
             "×", 0.1, 10),
    choice("11-slices", "Matrices cut into slices of 7 bits: with how many slices of each is the "
           "product as exact as one in fp64?", *(str(n) for n in range(2, 11))),
)  # fmt: skip
