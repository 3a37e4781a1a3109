"""Discovery for Web Bot Auth: the keys at the URL that a signature's Signature-Agent names."""

from undersigned.discovery.web_bot_auth.registry import read_registry
from undersigned.discovery.web_bot_auth.signed_directory import verify_directory
from undersigned.discovery.web_bot_auth.sources import AsyncWebBotAuthKeys, WebBotAuthKeys

__all__ = ["AsyncWebBotAuthKeys", "WebBotAuthKeys", "read_registry", "verify_directory"]
