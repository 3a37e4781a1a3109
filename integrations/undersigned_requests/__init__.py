"""HTTP message signatures for `requests`.

`SignatureAuth` is an auth like any other: `requests.post(url, json=order, auth=auth)`, or `session.auth = auth`.
"""

from .auth import SignatureAuth

__all__ = ["SignatureAuth"]
