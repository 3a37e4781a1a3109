"""A wire, a client and the peers, for the tests with other implementations of RFC 9421."""

from __future__ import annotations

from contextlib import ExitStack

import httpx
import pytest
from tests.integrations.capture import threaded
from tests.interop import ours
from tests.interop.peer import running
from tests.interop.wire import Wire


@pytest.fixture(scope="session")
def wire():
    opened = Wire()
    with threaded(opened.listener):
        yield opened


@pytest.fixture(scope="session")
def client():
    with httpx.Client(timeout=30) as opened:
        yield opened


@pytest.fixture(scope="session")
def peers(request):
    """Start the peers of all selected tests at once, and return the one of a package."""
    selected = [item.callspec.params for item in request.session.items if "peers" in item.fixturenames]
    scripts = {params["name"].split()[0] for params in selected}
    with ExitStack() as stack:
        started = {script: stack.enter_context(running(script, ours.keys())) for script in scripts}
        yield lambda name: started[name.split()[0]]
