"""The demonstration: two real servers, two real clients, and requests with one change each."""
