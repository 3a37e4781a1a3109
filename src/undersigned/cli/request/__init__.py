"""`undersigned request`: send a signed request and show what comes back, and why if it is rejected."""
