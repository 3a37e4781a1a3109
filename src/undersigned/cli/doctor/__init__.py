"""`undersigned doctor`: find out what a proxy or server changes on the way to an application."""
