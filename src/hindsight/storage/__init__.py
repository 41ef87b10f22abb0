"""The source of truth: what was said, what was made of it, and how both changed."""
