"""The demonstration: two real servers, two real clients, and requests changed one thing at a time.

It is a plug-in command of `undersigned`, with the extra `demo`, because it shows several integrations side by side.
"""
