"""MCP: the server, its tools, texts and prompts, and the way it comes over standard input and output or HTTP."""
