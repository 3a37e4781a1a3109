"""http-message-signatures: sign and verify the canonical target, and every component of RFC 9421.

`HTTPMessageSigner(..., component_resolver_class=CanonicalComponentResolver)`, and the same for `HTTPMessageVerifier`.
"""

from __future__ import annotations

from .resolver import CanonicalComponentResolver

__all__ = ["CanonicalComponentResolver"]
