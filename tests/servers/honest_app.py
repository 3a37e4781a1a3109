"""An application that tells what it received, alone and behind the middleware of each profile, in one server.

The field X-Endpoint chooses: `alone`, the name of a profile, `optional` or `policy`.
"""

from __future__ import annotations

import hashlib
import json

from tests.honest.endpoints import PROFILES, verifier
from tests.honest.sender import HOST
from tests.servers import probe

from undersigned import Policy, asgi, profiles, wsgi

OPTIONS: dict[str, dict] = {name: {"verifier": verifier(profile)} for name, profile in PROFILES.items()}
OPTIONS["optional"] = {"verifier": verifier(profiles.ADCP_3_2), "mode": "optional"}
OPTIONS["policy"] = {"verifier": verifier(profiles.ADCP_3_2), "policy": Policy(required_for=["create_media_buy"])}


def told(call: dict) -> bytes:
    query, digest = call["raw"].partition("?")[2], hashlib.sha256(call["body"].encode("latin-1")).hexdigest()
    return json.dumps([call["method"], call["path"], query, digest]).encode()


def behind(middleware, application) -> dict:
    return {name: middleware(application, origins=[f"https://{HOST}"], **chosen) for name, chosen in OPTIONS.items()}


_asgi, _wsgi = probe.asgi_application(told), probe.wsgi_application(told)
asgi_app = probe.asgi_chosen(_asgi, alone=_asgi, **behind(asgi.SignatureMiddleware, _asgi))
wsgi_app = probe.wsgi_chosen(_wsgi, alone=_wsgi, **behind(wsgi.SignatureMiddleware, _wsgi))
