"""Labs: one topic a folder, with what it counts, measures and draws.

Byte golf, language models, CUDA, memory, caches, loops, search, fusion, precision.
"""
