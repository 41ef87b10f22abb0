"""`python -m hindsight.mcp_server`: MCP over standard input and output."""

from hindsight.interfaces.mcp.handshake import run

if __name__ == "__main__":
    run()
