"""Servers that cannot show what was signed are refused by name, however honest the request."""

from __future__ import annotations

import pytest
from tests.servers.requests_http1 import HONEST
from tests.serving import exchange


@pytest.mark.parametrize("case", ["no query", "content"])
def test_the_server_is_refused_by_name_and_the_operator_reads_why(refused, case):
    response = exchange(refused.port, HONEST[case].raw())
    assert b" 503 " in response.partition(b"\r\n")[0], response
    assert b"request_signature_server_unsupported" in response
    assert refused.calls() == []
    assert refused.told()["server"] == refused.server.name.removesuffix("-wsgi")
    assert refused.told()["server"] in refused.log.read_text()
