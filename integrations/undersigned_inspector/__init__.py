"""The inspector: a page on this machine that shows why a signed request is rejected.

`undersigned inspect` serves the page for requests that are pasted. `SignatureMiddleware(..., on_decision=Inspector())`
serves one for the decisions of an application in development.
"""

from .live_decisions import Inspector

__all__ = ["Inspector"]
