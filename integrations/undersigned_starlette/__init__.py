"""undersigned for starlette."""
