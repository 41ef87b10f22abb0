"""Text in, changes out."""
