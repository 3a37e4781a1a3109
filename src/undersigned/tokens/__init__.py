"""Tokens: key sources for messages that bring the key along, in a JWT of an issuer that the receiver trusts.

The token is verified first, then the key that is bound to it (`cnf`, RFC 7800) verifies the message.
"""

from undersigned.tokens.workload import WorkloadTokenKeys

__all__ = ["WorkloadTokenKeys"]
