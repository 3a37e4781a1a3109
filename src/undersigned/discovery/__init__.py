"""Discovery: key sources that read files and fetch over https.

The package needs `pip install "undersigned[discovery]"`. Every fetch is guarded. It uses https only, and checks all
addresses of a name before it connects to one of them. Its bytes and its time are bounded, and it does not follow
redirects. `Network` has what an operator can change.
"""

from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwks_file import JWKSFile
from undersigned.discovery.kept import FetchReport
from undersigned.discovery.key_sources import KeySources
from undersigned.discovery.network import Network
from undersigned.discovery.remote_jwks import RemoteJWKS
from undersigned.discovery.revocations import RemoteRevocationList, RevocationFile, RevocationSources

__all__ = [
    "FetchReport",
    "Freshness",
    "JWKSFile",
    "KeySources",
    "Network",
    "RemoteJWKS",
    "RemoteRevocationList",
    "RevocationFile",
    "RevocationSources",
]
