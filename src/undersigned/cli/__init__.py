"""The command line, one command a module. It needs the extra `cli`; nothing in the library imports it."""
