"""Query in, ranked and packed hits out."""
