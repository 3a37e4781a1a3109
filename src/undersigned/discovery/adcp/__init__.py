"""Discovery for AdCP: from an agent's URL to its keys, by its operator's brand.json and its publisher's pins."""

from undersigned.discovery.adcp.agent import AdCPAgent, AdCPDirectory

__all__ = ["AdCPAgent", "AdCPDirectory"]
