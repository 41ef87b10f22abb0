"""Projections of what the store holds, for finding it quickly: by words and by closeness of meaning."""
