"""What lesson 12 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("12-int8", "One vector, weights in int8 instead of fp32, larger than all caches: how "
             "many times as fast is the product?", "×", 0.2, 20),
    Question("12-int4", "Weights in int4 instead of int8, half the bytes again: how many times as "
             "fast as with int8?", "×", 0.1, 10),
    Question("12-knee", "On an A10, int4 weights allow 3.9 times the speed for one vector. At "
             "how many vectors is it first less than 2?", "", 1, 1000),
    Question("12-serving", "Llama 3.1 8B in 16 bits on an H100 makes 220 tokens a second at "
             "most for one sequence. How many for 64 in all?", "tokens/s", 100, 100_000),
    Question("12-sparse", "Two of four numbers and their places: how many times as fast is the "
             "product of one vector here?", "×", 0.1, 10),
)  # fmt: skip
