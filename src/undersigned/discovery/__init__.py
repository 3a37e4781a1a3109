"""Discovery: key sources that read files and fetch over https, for `undersigned[discovery]`.

Every fetch is guarded: https only, the addresses of a name checked before the connection goes to one of them, bounded
in bytes and time, without redirects. See `Network` for what an operator can change of that.
"""

from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwks_file import JWKSFile
from undersigned.discovery.key_sources import AsyncKeySources, KeySources
from undersigned.discovery.network import Network
from undersigned.discovery.remote_jwks import AsyncRemoteJWKS, RemoteJWKS
from undersigned.discovery.revocations import AsyncRemoteRevocationList, RemoteRevocationList, RevocationSources

__all__ = [
    "AsyncKeySources",
    "AsyncRemoteJWKS",
    "AsyncRemoteRevocationList",
    "Freshness",
    "JWKSFile",
    "KeySources",
    "Network",
    "RemoteJWKS",
    "RemoteRevocationList",
    "RevocationSources",
]
