"""HTTP message signatures for niquests.

`SignatureAdapter` and `AsyncSignatureAdapter` are adapters of a session, which sign at the last moment:
`session.mount("https://", SignatureAdapter(signer, origins=[...]))`.
"""

from .adapters import AsyncSignatureAdapter, SignatureAdapter

__all__ = ["AsyncSignatureAdapter", "SignatureAdapter"]
