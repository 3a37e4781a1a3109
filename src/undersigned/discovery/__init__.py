"""Discovery: key sources that read files and fetch over https, for `undersigned[discovery]`.

Every fetch is guarded. It uses https only, and checks all addresses of a name before it connects to one of them. Its
bytes and its time are bounded, and it does not follow redirects. `Network` has what an operator can change.
"""

from undersigned.discovery.fetch_report import FetchReport
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
    "FetchReport",
    "Freshness",
    "JWKSFile",
    "KeySources",
    "Network",
    "RemoteJWKS",
    "RemoteRevocationList",
    "RevocationSources",
]
