"""What a client is told of the responses that it would reject, before there are any."""

from __future__ import annotations

import logging

import pytest
from tests.keys import OneKey, verification_key

from undersigned import MemoryReplayStore, Verifier
from undersigned.client import ResponseVerification
from undersigned.profiles import FAPI_2_RESPONSE

ACTED_ON = ("content-type", "content-encoding", "location")


@pytest.mark.parametrize("asked", [ACTED_ON, ACTED_ON[:2], ()])
def test_fields_that_clients_act_on_are_logged_unless_the_profile_asks_for_them(caplog, asked):
    caplog.set_level(logging.INFO, "undersigned")
    profile = FAPI_2_RESPONSE.derive(coverage=FAPI_2_RESPONSE.coverage._replace(if_sent=asked))
    verifier = Verifier(profile, keys=OneKey(verification_key()), replay=MemoryReplayStore())
    assert ResponseVerification(verifier, signers=None)
    told = [record.args[1] for record in caplog.records if record.getMessage().startswith("responses: ")]
    assert told == [", ".join(ACTED_ON[len(asked) :])] * (asked != ACTED_ON)
