"""What lesson 06 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("06-hop", "A hop from line to line, in the largest array and in the smallest: by what "
             "factor is it slower?", "×", 1, 1000),
    Question("06-underway", "One core reads in order from memory: how many lines are in flight at "
             "any moment?", "lines", 1, 1000),
    Question("06-price", "How many multiply-adds cost as much energy as fetching one number from "
             "memory?", "multiply-adds", 0.1, 10_000),
)
