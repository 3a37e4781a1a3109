"""`undersigned explain`: show what each rule changes in a URL, and which step rejects a request."""
