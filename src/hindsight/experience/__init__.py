"""Hindsight proper: what worked and what failed, kept and trusted by its record."""
