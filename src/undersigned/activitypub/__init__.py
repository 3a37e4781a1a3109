"""ActivityPub: requests between servers, signed by RFC 9421 or by the older draft-cavage-12.

`ActivityPubVerifier` is a `Verifier` that takes both schemes, so the middlewares take it. The headers of a
request say which scheme it is, and only that one is tried.
"""

from undersigned.activitypub.verifier import ActivityPubVerifier, AsyncActivityPubVerifier

__all__ = ["ActivityPubVerifier", "AsyncActivityPubVerifier"]
