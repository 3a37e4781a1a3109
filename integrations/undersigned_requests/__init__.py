"""undersigned for requests."""
