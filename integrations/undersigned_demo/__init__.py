"""The demonstration: two real servers, two real clients, and requests with one change each.

It is a plug-in command of `undersigned` with its own extra, `demo`, because it needs several integrations.
"""
