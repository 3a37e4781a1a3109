"""adcp of PyPI, by the profile of the AdCP version that X-Version names: 3.1 or 3.2."""

from __future__ import annotations

import time
from types import SimpleNamespace

from adcp.signing import (
    StaticJwksResolver,
    VerifierCapability,
    VerifyOptions,
    private_key_from_jwk,
    sign_request,
    verify_request_signature,
)


def public(jwk):
    members = {name: jwk[name] for name in ("kid", "kty", "crv", "x", "y", "alg") if name in jwk}
    return {**members, "use": "sig", "key_ops": ["verify"], "adcp_use": "request-signing"}


def peer(keys):
    jwks = {"keys": [public(jwk) for jwk in keys.values() if jwk["algorithm"] in {"ed25519", "ecdsa-p256-sha256"}]}

    def sign(order):
        jwk = keys[order.keyid]
        made = sign_request(
            method=order.method,
            url=order.url,
            headers=dict(order.lines),
            body=order.body.encode(),
            private_key=private_key_from_jwk(jwk, d_field="d"),
            key_id=order.keyid,
            alg=jwk["algorithm"],
            cover_content_digest=bool(order.body),
            signing_profile_version=order.fields["X-Version"],
        )
        return [*order.lines, *made.as_dict().items()]

    def verify(request):
        options = VerifyOptions(
            now=time.time(),
            capability=VerifierCapability(covers_content_digest="required"),
            operation="create_media_buy",
            jwks_resolver=StaticJwksResolver(jwks),
            signing_profile_version=dict(request.fields)["x-version"],
        )
        verify_request_signature(
            method=request.method,
            url=request.url,
            headers=dict(request.fields),
            body=request.body,
            options=options,
            raw_headers=[(name.lower().encode(), value.encode()) for name, value in request.fields],
        )

    return SimpleNamespace(sign=sign, verify=verify)
