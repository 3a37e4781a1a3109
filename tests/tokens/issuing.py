"""An issuer of tokens: JWTs that are signed by hand."""

from __future__ import annotations

import base64
import json


def segment(value) -> str:
    octets = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def issue(header, claims, key) -> str:
    text = f"{segment(header)}.{segment(claims)}"
    return f"{text}.{segment(key.signing_key().sign(text.encode()))}"
