"""undersigned for flask."""
