"""What happened inside a call: traces now, metrics where an operator asks for them."""
