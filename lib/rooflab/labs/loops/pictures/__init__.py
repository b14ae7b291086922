"""The iteration space of two loops, drawn: what schedules do to it, and the sheets that show it."""
