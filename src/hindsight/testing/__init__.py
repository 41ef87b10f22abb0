"""Shipped for authors of backends: contracts that a backend's tests inherit. Needs pytest, hypothesis and anyio."""
