"""The command line, `undersigned`. It needs the extra `cli`."""
