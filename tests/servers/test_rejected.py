"""Servers that hide signed values are rejected by name, even for valid requests."""

from __future__ import annotations

import pytest
from tests.servers.requests_http1 import HONEST
from tests.wire import exchange


@pytest.mark.parametrize("case", ["no query", "content"])
def test_server_is_rejected_by_name_with_its_reason_in_the_log(rejected, case):
    response = exchange(rejected.port, HONEST[case].raw())
    assert b" 503 " in response.partition(b"\r\n")[0], response
    assert b"request_signature_server_unsupported" in response
    assert rejected.calls() == []
    assert rejected.seen()["server"] == rejected.server.name.removesuffix("-wsgi")
    assert rejected.seen()["server"] in rejected.log.read_text()
