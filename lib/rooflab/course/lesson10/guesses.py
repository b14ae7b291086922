"""What lesson 10 asks before it shows."""

from rooflab.exercises.guesses import Question, choice

QUESTIONS = (
    Question("10-norm", "RMSNorm as one loop: how many times as fast as its six NumPy calls?", "×",
             0.5, 100),
    choice("10-table", "Nine operations, each as single steps and as one kernel, on GPUs. Which "
           "one became faster by the largest factor when it was measured?",
           "RMSNorm", "Swish", "MSE loss", "GELU", "RoPE", "SwiGLU", "cross entropy", "LayerNorm",
           "linear layer with cross entropy"),
    Question("10-sine", "sin and sqrt in one loop move half the bytes of two NumPy calls. How many "
             "times as fast is the one loop?", "×", 0.1, 10),
    Question("10-streamed", "Attention without the matrix of scores: how many times as fast as "
             "with it?", "×", 0.1, 100),
)
