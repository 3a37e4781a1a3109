"""undersigned for httpx."""
