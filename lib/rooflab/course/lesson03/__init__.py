"""Lesson 03, the roofline."""
