"""`undersigned explain`: show the changes by each rule to a URL, and the step that rejects a request."""
