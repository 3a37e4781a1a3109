from __future__ import annotations

from typing import get_args

import pytest
from tests.keys import URL

from undersigned import Policy, Request, SignatureError, profiles
from undersigned.errors import MalformedSignature, Reason
from undersigned.message import Content
from undersigned.policy import JSONRPCResolver
from undersigned.verification.gate import Gate
from undersigned.verification.verifier import finish

CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_products"}}'
ERRORS = [profiles.ADCP_3_2.error(reason, step=1, detail="") for reason in get_args(Reason)]


class Failing:
    """A verifier that rejects every request, and a server whose caller has another credential."""

    profile = profiles.ADCP_3_2

    def __init__(self, error: SignatureError) -> None:
        self.error = error
        self.read = 0

    async def authenticate(self, _request):
        raise self.error

    async def read_unverified(self, _most):
        self.read += 1
        return Content((CALL,))

    async def accepts_caller(self):
        return True


def verify(failing: Failing, *, fallback: bool = True):
    gate = Gate(failing, Policy(warn_for=["get_products"], resolver=JSONRPCResolver()), fallback=fallback)
    return finish(gate.verify(Request("POST", URL, has_body=True), failing, signed=True))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_error_is_forgiven_only_when_another_credential_can_make_up_for_it(error):
    failing = Failing(error)
    if isinstance(error, MalformedSignature):
        with pytest.raises(SignatureError) as caught:
            verify(failing)
        assert (caught.value, failing.read) == (error, 0)
    else:
        assert verify(failing).warning is error
        assert failing.read == 1


def test_no_error_is_forgiven_without_another_authenticator():
    failing = Failing(ERRORS[0])
    with pytest.raises(SignatureError):
        verify(failing, fallback=False)
    assert failing.read == 0


def test_unreadable_fields_incomplete_parameters_and_ambiguous_targets_or_bodies_are_malformed():
    malformed = {error.code.removeprefix("request_") for error in ERRORS if isinstance(error, MalformedSignature)}
    assert malformed == {
        "signature_header_malformed",
        "signature_params_incomplete",
        "target_uri_malformed",
        "body_malformed",
    }
