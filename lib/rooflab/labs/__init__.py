"""Labs: one topic a folder, with what it counts, measures and draws: byte golf, language models, CUDA."""
