"""The canonical form of a URL, by the AdCP URL canonicalization algorithm."""
