"""No honest request is rejected for its size or spelling: a seeded search over requests that another signer signed."""

from __future__ import annotations

from random import Random

import pytest
from tests.honest.endpoints import PROFILES, rule_of, verifier
from tests.honest.sender import HOST, request

from undersigned import Request, SignatureError

LONGEST_PATH = 7900
ROUNDS = 60


@pytest.mark.parametrize("name", PROFILES)
def test_verifier_accepts_every_honest_request(name):
    receiver, random = verifier(PROFILES[name]), Random(name)  # noqa: S311 - it has to be repeatable
    for _ in range(ROUNDS):
        given = request(random, rule_of(PROFILES[name]), longest_path=LONGEST_PATH)
        got = Request(given.method, f"https://{HOST}{given.target}", list(given.fields), given.body)
        try:
            receiver.verify(got)
        except SignatureError as error:
            pytest.fail(f"{error}: {error.detail}: {given}")
