"""Signatures: keys, profiles, covered components and the signer (RFC 9421 sections 2 and 3.1)."""

from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.signature.key_source import AsyncKeySource, KeyLookup, KeySet, KeySource
from undersigned.signature.profile import Profile
from undersigned.signature.remote_key import AsyncRemoteKey, KeyReference, RemoteKey
from undersigned.signature.rules import Caps
from undersigned.signature.signer import PreparedSignature, SignedFields, Signer
from undersigned.signature.signing_key import SigningKey
from undersigned.signature.verification_key import VerificationKey

__all__ = [
    "AsyncKeySource",
    "AsyncRemoteKey",
    "Caps",
    "ComponentValues",
    "KeyLookup",
    "KeyReference",
    "KeySet",
    "KeySource",
    "PreparedSignature",
    "Profile",
    "RemoteKey",
    "SignedFields",
    "Signer",
    "SigningKey",
    "UnresolvableComponent",
    "VerificationKey",
    "signature_base",
]
