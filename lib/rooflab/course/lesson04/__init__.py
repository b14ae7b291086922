"""Lesson 04, shapes of GEMM."""
