"""Signatures: keys, profiles, covered components and the signer (RFC 9421 sections 2 and 3.1).

`undersigned` itself has the names of keys, profiles and signers. Here are those of the signature base.
"""

from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base

__all__ = ["ComponentValues", "UnresolvableComponent", "signature_base"]
