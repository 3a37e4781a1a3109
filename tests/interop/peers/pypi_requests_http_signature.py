"""requests-http-signature of PyPI: an auth of requests, which sends by itself."""

from __future__ import annotations

from types import SimpleNamespace

import requests
from hms_keys import ALGORITHMS, algorithm_in, resolver
from requests_http_signature import HTTPSignatureAuth


def combined(lines):
    """The header fields as requests has them: one value of each name."""
    fields = {}
    for name, value in lines:
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return fields


def peer(keys):
    resolved = resolver(keys)

    def send(order):
        auth = HTTPSignatureAuth(
            signature_algorithm=ALGORITHMS[keys[order.keyid]["algorithm"]],
            key_id=order.keyid,
            key_resolver=resolved,
            covered_component_ids=[one for one in order.components if one != "content-digest"],
            label="sig1",
        )
        body = order.body.encode() or None
        response = requests.request(
            order.method, order.url, headers=combined(order.lines), data=body, auth=auth, timeout=30
        )
        return {"status": response.status_code, "fields": dict(response.headers), "body": response.text}

    def verify(request):
        prepared = requests.Request(
            request.method, request.url, headers=combined(request.fields), data=request.body or None
        ).prepare()
        # prepare() spells the URL in its own way. What was signed is the target as it was received.
        prepared.url = request.url
        HTTPSignatureAuth.verify(
            prepared,
            signature_algorithm=algorithm_in(request.fields, keys),
            key_resolver=resolved,
            require_components=("@method",),
        )

    return SimpleNamespace(send=send, verify=verify)
