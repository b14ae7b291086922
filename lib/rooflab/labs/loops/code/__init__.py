"""What a schedule runs as: its operations, their text, compiled code, and their accesses."""
