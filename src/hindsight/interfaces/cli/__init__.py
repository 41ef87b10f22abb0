"""The command line, `hindsight`: `main` has the program, each other file a group of commands or what they show."""
