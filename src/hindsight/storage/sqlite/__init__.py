"""The store in one SQLite file, for one machine and any number of its processes."""
