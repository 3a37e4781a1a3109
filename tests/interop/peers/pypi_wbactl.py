"""wbactl of PyPI. It does not look at the content."""

from __future__ import annotations

from types import SimpleNamespace

from wbactl.keys import private_from_jwk
from wbactl.sign import sign_request
from wbactl.verify import verify_request


def peer(keys):
    [jwk] = [jwk for jwk in keys.values() if jwk["algorithm"] == "ed25519"]
    jwks = {"keys": [{name: jwk[name] for name in ("kty", "crv", "x")}]}

    def sign(order):
        made = sign_request(
            order.method,
            order.url,
            {name: value for name, value in order.lines if name != "Signature-Agent"},
            private_from_jwk(jwk),
            dict(order.lines)["Signature-Agent"].strip('"'),
            covered=tuple(f'"{name}"' for name in order.components),
            created=order.created,
        )
        return [*(line for line in order.lines if line[0] not in made), *made.items()]

    def verify(request):
        result = verify_request(request.method, request.url, dict(request.fields), jwks)
        if not result.ok:
            raise ValueError(result.reason)

    return SimpleNamespace(sign=sign, verify=verify)
