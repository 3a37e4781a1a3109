from __future__ import annotations

import pytest
from tests.discovery.adcp.agent_server import Operator


@pytest.fixture
def operator(server):
    return Operator(server)


@pytest.fixture
def source(world, operator, clock):
    """The source of the operator's agent."""
    return world.agent(operator.url, network=operator.server.network(), clock=clock)
