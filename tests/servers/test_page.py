"""The page on deploying lists every server of the matrix."""

from __future__ import annotations

import pytest
from tests.servers.matrix import REJECTED, ROOT, SERVERS

PAGE = ROOT / "docs" / "deploying.md"


@pytest.mark.parametrize("server", [*SERVERS, *REJECTED], ids=lambda server: server.name)
def test_every_server_is_on_the_page(server):
    lines = [line.lower() for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    name, *configuration = server.name.split("-")
    assert any(name in line.split("|")[1] for line in lines), f"docs/deploying.md has no row for {name}"
    for word in configuration:
        known = {"fast": "gunicorn_h1c", "h2": "http/2"}.get(word, word)
        assert any(name in line.split("|")[1] and known in line for line in lines), (
            f"the row of {name} does not name {known}"
        )
