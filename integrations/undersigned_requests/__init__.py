"""HTTP message signatures for `requests`.

`SignatureAuth` is an auth like any other: `requests.post(url, json=order, auth=auth)`. `SignatureAdapter` is mounted,
`session.mount("https://", adapter)`, and signs redirects too.
"""

from undersigned.errors import needs_extra

with needs_extra("requests"):
    from .signing import SignatureAdapter, SignatureAuth

__all__ = ["SignatureAdapter", "SignatureAuth"]
