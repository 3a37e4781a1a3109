"""Discovery: key sources that read files and fetch over https.

Whatever fetches needs `pip install "undersigned[discovery]"`. Every fetch is guarded. It uses https only, and checks
all addresses of a name before it connects to one of them. Its bytes and its time are bounded, and it does not follow
redirects. `Network` has what an operator can change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwks_file import JWKSFile
from undersigned.discovery.key_sources import KeySources
from undersigned.discovery.network import FetchReport, Network
from undersigned.discovery.revocation_sources import RevocationFile, RevocationSources

if TYPE_CHECKING:
    from undersigned.discovery.remote_jwks import RemoteJWKS
    from undersigned.discovery.remote_revocation_list import RemoteRevocationList

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

_FETCHING: Final = {"RemoteJWKS": "remote_jwks", "RemoteRevocationList": "remote_revocation_list"}
"""The modules that need the extra."""


def __getattr__(name: str) -> object:
    """Import what needs the extra when it is first asked for."""
    if name not in _FETCHING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_FETCHING[name]}"), name)
    return found
