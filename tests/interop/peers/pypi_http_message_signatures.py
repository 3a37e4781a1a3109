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

    def sign_message(signed, order):
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

    def sign(order):
        return sign_message(message(order.method, order.url, order.lines), order)

    def verify_message(received, fields, body):
        verifier = HTTPMessageVerifier(signature_algorithm=algorithm_in(fields, keys), key_resolver=resolved)
        verifier.verify(received, body=body)

    def verify(request):
        verify_message(message(request.method, request.url, request.fields), request.fields, request.body)

    def answer(response):
        made = message("", "", response.fields)
        asked = message(response.request.method, response.request.url, response.request.fields)
        return SimpleNamespace(status_code=response.status, headers=made.headers, request=asked)

    def sign_answer(response, order):
        return sign_message(answer(response), order)

    def verify_answer(response):
        verify_message(answer(response), response.fields, response.body)

    return SimpleNamespace(sign=sign, verify=verify, sign_answer=sign_answer, verify_answer=verify_answer)
