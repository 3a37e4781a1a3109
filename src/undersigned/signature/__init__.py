"""Signatures: keys, profiles, covered components and the signer (RFC 9421 sections 2 and 3.1)."""

from undersigned.signature.key_source import AsyncKeySource, KeyLookup, KeySet, KeySource
from undersigned.signature.keys import SigningKey, VerificationKey
from undersigned.signature.profile import Caps, Profile
from undersigned.signature.signer import SignedFields, Signer

__all__ = [
    "AsyncKeySource",
    "Caps",
    "KeyLookup",
    "KeySet",
    "KeySource",
    "Profile",
    "SignedFields",
    "Signer",
    "SigningKey",
    "VerificationKey",
]
