"""HTTP message signatures for `urllib.request`.

`SignatureHandler` is a handler like any other: `build_opener(SignatureHandler(signer, origins=[...])).open(url)`.
"""

from .handler import SignatureHandler

__all__ = ["SignatureHandler"]
