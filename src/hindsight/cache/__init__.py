"""Answers kept for a moment."""
