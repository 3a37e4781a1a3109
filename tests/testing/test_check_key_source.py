from __future__ import annotations

import asyncio
import threading

import pytest
from tests.keys import JWKS, KEYS, PRIVATE, PUBLIC, Awaited

from undersigned import KeySet, KeySourceError, VerificationKey
from undersigned.testing import check_async_key_source, check_key_source

KEYID = "buyer-ed25519"


KEY = KEYS.keys[KEYID][0]


class Honest:
    """A source that keeps the contract, unless it is given something else to find."""

    blocking = False

    def __init__(self, find=KEYS.find, **attributes) -> None:
        self.find = find
        vars(self).update(attributes)


def in_other_threads(found, otherwise):
    """Find something in another thread than that of the test."""

    def find(asked):
        return otherwise(asked) if threading.current_thread() is threading.main_thread() else found(asked)

    return find


def forgetting(left=(1, 1)):
    """Find keys twice."""
    knows = iter(left)
    return lambda asked: KEYS.find(asked) if next(knows, 0) else ()


def connecting(asked):
    if "127.0.0.1" in asked.url:
        raise OSError("connected")
    return KEYS.find(asked)


def unavailable(asked):
    raise KeySourceError("signature_jwks_unavailable", asked.keyid)


def renamed(asked):
    return [VerificationKey.from_jwk(PUBLIC | {"kid": f"{key.keyid}-1"}) for key in KEYS.find(asked)]


def to_all(_asked):
    return [KEY]


BROKEN = {
    "blocking: must be True or False": Honest(blocking="no"),
    "find: answered a VerificationKey; expected a sequence": Honest(lambda asked: next(iter(KEYS.find(asked)), None)),
    "find: answered a str; expected a sequence": Honest(lambda asked: asked.keyid),
    "something else than VerificationKey": Honest(lambda asked: [PUBLIC] if asked.keyid == KEYID else []),
    "find: raised KeyError: .*; expected keys, or none": Honest(lambda asked: (KEYS.keys[asked.keyid][0],)),
    "find: raised KeySourceError": Honest(unavailable),
    "has no key of the keyid": Honest(KeySet.from_jwks({"keys": [JWKS["keys"][1]]}).find),
    "no usable key: the JWK has a private key": Honest(lambda _asked: (VerificationKey.from_jwk(PRIVATE),)),
    "a key of another keyid": Honest(renamed),
    "in another way the next time": Honest(forgetting()),
    "has a key for ''": Honest(to_all),
    "has a key for 'BUYER-ED25519'": Honest(lambda asked: KEYS.find(asked._replace(keyid=asked.keyid.lower()))),
    r"has a key for '\*'": Honest(lambda asked: [KEY] if asked.keyid in {"*", KEYID} else []),
    "raised OSError": Honest(connecting),
    "asks_again: must be True or False": Honest(asks_again=1),
    "an unknown keyid at a second look": Honest(
        lambda asked: [KEY] if asked.is_second_try else KEYS.find(asked), asks_again=True
    ),
    "8 at once get the key of another lookup": Honest(in_other_threads(to_all, KEYS.find)),
    "8 at once do not all get the key": Honest(in_other_threads(lambda _asked: (), KEYS.find)),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_error_names_the_rule_that_a_source_breaks(rule):
    with pytest.raises(AssertionError, match=rule):
        check_key_source(BROKEN[rule], keyid=KEYID)


def test_owner_of_the_key_is_checked_if_it_is_given():
    source = KeySet.from_jwks(JWKS, owner="buyer.example.com")
    check_key_source(source, keyid=KEYID)
    check_key_source(source, keyid=KEYID, owner="buyer.example.com")
    with pytest.raises(AssertionError, match="the owner that was expected"):
        check_key_source(source, keyid=KEYID, owner="seller.example.com")


@pytest.mark.parametrize("source", [Honest(), Awaited(Honest())], ids=["plain", "awaited"])
def test_asynchronous_source_that_keeps_the_contract_passes(source):
    asyncio.run(check_async_key_source(source, keyid=KEYID))


class BrokenForTasks(Honest):
    async def async_find(self, _lookup):
        return ()


def test_source_for_threads_and_tasks_is_asked_as_a_task_asks_it():
    check_key_source(BrokenForTasks(), keyid=KEYID)
    with pytest.raises(AssertionError, match="has no key of the keyid"):
        asyncio.run(check_async_key_source(BrokenForTasks(), keyid=KEYID))


def test_error_names_the_rule_that_an_asynchronous_source_breaks():
    with pytest.raises(AssertionError, match="has a key for ''"):
        asyncio.run(check_async_key_source(Awaited(Honest(to_all)), keyid=KEYID))


def test_awaitable_source_is_rejected_with_the_right_check():
    source = Awaited(Honest())
    source.blocking = False
    with pytest.raises(AssertionError, match="use check_async_key_source"):
        check_key_source(source, keyid=KEYID)
