"""HTTP message signatures for Python web applications."""
