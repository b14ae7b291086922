"""What a nest is: subscripts, statements read from text, and the tree of loops around them."""
