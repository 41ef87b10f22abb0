"""Pure values and arithmetic of memory: no I/O, no clock, no randomness."""
