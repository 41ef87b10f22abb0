"""Reflection: experiences proposed out of what an agent did in a session: what failed, and what then worked."""
