"""What may run beside a learner's code: it ships to the sandbox, and knows no right answer."""
