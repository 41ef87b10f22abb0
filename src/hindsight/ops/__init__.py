"""What an operator does: see whether all is well, later also back up, migrate and restore."""
