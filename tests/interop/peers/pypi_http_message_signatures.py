"""http-message-signatures of PyPI. It is given the content, so it compares it with Content-Digest."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

from hms_keys import ALGORITHMS, algorithm_in, resolver
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier
from urllib3 import HTTPHeaderDict


def message(method: str, url: str, lines: list[tuple[str, str]]) -> SimpleNamespace:
    headers = HTTPHeaderDict()
    for name, value in lines:
        headers.add(name, value)
    return SimpleNamespace(method=method, url=url, headers=headers)


def peer(keys):
    resolved = resolver(keys)

    def sign(order):
        signed = message(order.method, order.url, order.lines)
        signer = HTTPMessageSigner(
            signature_algorithm=ALGORITHMS[keys[order.keyid]["algorithm"]], key_resolver=resolved
        )
        components = [one for one in order.components if one != "content-digest"]
        has_digest = "content-digest" in order.components
        signer.sign(
            signed,
            key_id=order.keyid,
            created=datetime.fromtimestamp(order.created, UTC),
            label="sig1",
            covered_component_ids=components,
            body=order.body.encode() if has_digest else None,
        )
        return list(signed.headers.items())

    def verify(request):
        verifier = HTTPMessageVerifier(signature_algorithm=algorithm_in(request.fields, keys), key_resolver=resolved)
        verifier.verify(message(request.method, request.url, request.fields), body=request.body)

    return SimpleNamespace(sign=sign, verify=verify)
