"""The memory of an LLM agent."""
