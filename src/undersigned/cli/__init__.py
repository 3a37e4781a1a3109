"""The command line, with one module for each command. It needs the extra `cli`; the library does not import it."""
