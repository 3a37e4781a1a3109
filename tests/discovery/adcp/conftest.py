from __future__ import annotations

import pytest
from tests.discovery.adcp.agent_server import Operator

from undersigned.discovery.adcp import AdCPAgent


@pytest.fixture
def operator(server):
    return Operator(server)


@pytest.fixture
def source(operator, clock):
    """The source of the operator's agent."""
    return AdCPAgent(operator.url, network=operator.server.network(), clock=clock)
