"""The legacy signatures of draft-cavage-http-signatures-12, which the fediverse sends as well as RFC 9421.

The draft expired in 2019, and its scheme is not RFC 9421: only the header has the same name. `CavageSigner` signs
by it. `undersigned.activitypub` verifies it, and takes both schemes.
"""

from undersigned.cavage.signer import CavageSigner

__all__ = ["CavageSigner"]
