"""HTTP: the app, who may come in, and the routes of REST under `/v1`, a file for each group."""
