"""Which failed signatures another credential of the caller makes up for."""

from __future__ import annotations

from typing import get_args

import pytest
from tests.conformance.decision import decide
from tests.keys import KEYS, URL

from undersigned import MemoryReplayStore, Policy, Request, SignatureError, Verifier, profiles
from undersigned.errors import MalformedSignature, Reason
from undersigned.policy.jsonrpc import JSONRPCResolver

CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_products"}}'
REQUEST = Request("POST", URL, {"content-type": "application/json", "signature": "sig1=:AA==:"}, CALL)
POLICY = Policy(warn_for=["get_products"], resolver=JSONRPCResolver())
ERRORS = [profiles.ADCP_3_2.error(reason, step=1, detail="") for reason in get_args(Reason)]


class Failing(Verifier):
    """A verifier that rejects every request."""

    def __init__(self, error: SignatureError) -> None:
        super().__init__(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore())
        self.error = error

    def screen(self, _message):
        raise self.error


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_error_is_forgiven_only_when_another_credential_can_make_up_for_it(error):
    result = decide(Failing(error), REQUEST, policy=POLICY, fallback=True)
    malformed = isinstance(error, MalformedSignature)
    assert (result.code, result.warning) == ((error.code, None) if malformed else (None, error.code))
    assert result.fallback is not malformed


def test_no_error_is_forgiven_without_another_authenticator():
    assert decide(Failing(ERRORS[0]), REQUEST, policy=POLICY).code == ERRORS[0].code


def test_unreadable_fields_incomplete_parameters_and_ambiguous_targets_or_bodies_are_malformed():
    malformed = {error.code.removeprefix("request_") for error in ERRORS if isinstance(error, MalformedSignature)}
    assert malformed == {
        "signature_header_malformed",
        "signature_params_incomplete",
        "target_uri_malformed",
        "body_malformed",
    }
