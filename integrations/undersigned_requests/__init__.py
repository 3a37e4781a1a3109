"""HTTP message signatures for `requests`.

`SignatureAuth` is an auth like any other: `requests.post(url, json=order, auth=auth)`. `SignatureAdapter` is mounted,
`session.mount("https://", adapter)`, and signs redirects too.
"""

from undersigned.errors import missing_extra

try:
    from .signing import SignatureAdapter, SignatureAuth
except ModuleNotFoundError as missing:
    raise missing_extra("requests", missing) from missing

__all__ = ["SignatureAdapter", "SignatureAuth"]
