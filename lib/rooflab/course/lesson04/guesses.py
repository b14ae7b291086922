"""What lesson 04 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("04-tokens", "The same layer for 64 tokens at once, not for one: how many times "
             "longer does it take, on one core?", "×", 0.5, 500),
    Question("04-ridges", "One core of this computer in fp32, an H200 in bf16: the ridge "
             "of the H200 is how many times further right?", "×", 1, 1000),
    Question("04-thin", "The shape 16×8192×8192 has the FLOPs of a cube of 1024. What is its time "
             "÷ the time of the cube, on one core?", "×", 0.1, 1000),
    Question("04-padding", "The edges of 1000, filled up with zeros to 1024: what is the new time "
             "÷ the old one?", "×", 0.1, 10),
)
