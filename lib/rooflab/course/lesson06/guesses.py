"""What lesson 06 asks before it shows."""

from rooflab.exercises.guesses import Question

QUESTIONS = (
    Question("06-hop", "How many times slower is a hop in the largest array than in the smallest?",
             "×", 1, 1000),
    Question("06-rings", "1000 shuffled lines: how many of them does the walk from line 0 visit, "
             "on average?", "lines", 1, 1000),
    Question("06-underway", "One core reads in order from memory: how many lines are in flight at "
             "any moment?", "lines", 1, 1000),
    Question("06-price", "How many multiply-adds cost as much energy as fetching one number from "
             "memory?", "multiply-adds", 0.1, 10_000),
)
