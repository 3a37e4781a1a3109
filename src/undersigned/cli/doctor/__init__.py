"""`undersigned doctor`: find the changes that a proxy or server makes before a request reaches an application."""
