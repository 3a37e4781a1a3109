"""Tools for the tests of an application, a replay store or a key source. They import no test framework.

`KeyPair.generate()` makes a key pair. `signing_asgi` and `signing_wsgi` put a signer in front of an application, so
that a test client sends signed requests. `put_signature` is for a unit test that calls a guarded route. `tamper`
changes one part of a signed request, and `send` sends it. `undersigned.testing.fixtures` has fixtures for pytest.
"""

from undersigned.signature.key_pair import KeyPair
from undersigned.testing.clients import sign_environ, signing_asgi, signing_wsgi
from undersigned.testing.clock import FrozenNonceClock
from undersigned.testing.fault_contract import CELLS, FAULTS, Neighbour, check_async_faults, check_faults
from undersigned.testing.key_source_contract import check_async_key_source, check_key_source
from undersigned.testing.replay_store_contract import (
    check_async_replay_store,
    check_async_replay_store_after_fork,
    check_replay_store,
    check_replay_store_after_fork,
)
from undersigned.testing.route_unit_tests import put_signature
from undersigned.testing.tampering import PARTS, Part, send, tamper

__all__ = [
    "CELLS",
    "FAULTS",
    "PARTS",
    "FrozenNonceClock",
    "KeyPair",
    "Neighbour",
    "Part",
    "check_async_faults",
    "check_async_key_source",
    "check_async_replay_store",
    "check_async_replay_store_after_fork",
    "check_faults",
    "check_key_source",
    "check_replay_store",
    "check_replay_store_after_fork",
    "put_signature",
    "send",
    "sign_environ",
    "signing_asgi",
    "signing_wsgi",
    "tamper",
]
