from __future__ import annotations

import asyncio
import threading

import pytest
from tests.keys import JWKS, KEYS, PRIVATE, PUBLIC, Awaited

from undersigned import KeySet, KeySourceError, VerificationKey
from undersigned.testing import check_async_key_source, check_key_source

KEYID = "buyer-ed25519"


class Honest:
    """A source that keeps the contract; each subclass breaks it in one way."""

    blocking = False

    def find(self, lookup):
        return KEYS.find(lookup)


class Silent(Honest):
    blocking = "no"


class AnswersOneKey(Honest):
    def find(self, lookup):
        return next(iter(KEYS.find(lookup)), None)


class AnswersText(Honest):
    def find(self, lookup):
        return lookup.keyid


class AnswersJWKs(Honest):
    def find(self, lookup):
        return [PUBLIC] if lookup.keyid == KEYID else []


class Raises(Honest):
    def find(self, lookup):
        return (KEYS.keys[lookup.keyid][0],)


class CannotTell(Honest):
    def find(self, lookup):
        raise KeySourceError("signature_jwks_unavailable", lookup.keyid)


class HasAnother(Honest):
    def find(self, lookup):
        return KeySet.from_jwks({"keys": [JWKS["keys"][1]]}).find(lookup)


class HasAFault(Honest):
    def find(self, _lookup):
        return (VerificationKey.from_jwk(PRIVATE),)


class NamesAnother(Honest):
    def find(self, lookup):
        return [VerificationKey.from_jwk(PUBLIC | {"kid": f"{key.keyid}-1"}) for key in KEYS.find(lookup)]


class Forgets(Honest):
    def __init__(self):
        self.left = 2

    def find(self, lookup):
        self.left -= 1
        return KEYS.find(lookup) if self.left >= 0 else ()


class AnswersAnybody(Honest):
    def find(self, _lookup):
        return [KEYS.keys[KEYID][0]]


class IgnoresCase(Honest):
    def find(self, lookup):
        return KEYS.find(lookup._replace(keyid=lookup.keyid.lower()))


class ReadsPatterns(Honest):
    def find(self, lookup):
        return [KEYS.keys[KEYID][0]] if lookup.keyid in {"*", KEYID} else []


class ReadsUrl(Honest):
    def find(self, lookup):
        if "127.0.0.1" in lookup.url:
            raise OSError("connected")
        return KEYS.find(lookup)


class AsksMaybe(Honest):
    asks_again = 1


class KnowsAnybodyAtASecondLook(Honest):
    asks_again = True

    def find(self, lookup):
        return [KEYS.keys[KEYID][0]] if lookup.is_second_try else KEYS.find(lookup)


class MixesUpWhenBusy(Honest):
    def find(self, lookup):
        busy = threading.current_thread() is not threading.main_thread()
        return [KEYS.keys[KEYID][0]] if busy else KEYS.find(lookup)


class DropsWhenBusy(Honest):
    def find(self, lookup):
        return KEYS.find(lookup) if threading.current_thread() is threading.main_thread() else ()


BROKEN = {
    Silent: "blocking: must be True or False",
    AnswersOneKey: "find: answered a VerificationKey; expected a sequence",
    AnswersText: "find: answered a str; expected a sequence",
    AnswersJWKs: "something else than VerificationKey",
    Raises: "find: raised KeyError: .*; expected keys, or none",
    CannotTell: "find: raised KeySourceError",
    HasAnother: "has no key of the keyid",
    HasAFault: "no usable key: the JWK has a private key",
    NamesAnother: "a key of another keyid",
    Forgets: "in another way the next time",
    AnswersAnybody: "has a key for ''",
    IgnoresCase: "has a key for 'BUYER-ED25519'",
    ReadsPatterns: r"has a key for '\*'",
    ReadsUrl: "raised OSError",
    AsksMaybe: "asks_again: must be True or False",
    KnowsAnybodyAtASecondLook: "an unknown keyid at a second look",
    MixesUpWhenBusy: "8 at once get the key of another lookup",
    DropsWhenBusy: "8 at once do not all get the key",
}


@pytest.mark.parametrize(("source", "rule"), BROKEN.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_error_names_the_rule_that_a_source_breaks(source, rule):
    with pytest.raises(AssertionError, match=rule):
        check_key_source(source(), keyid=KEYID)


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
        asyncio.run(check_async_key_source(Awaited(AnswersAnybody()), keyid=KEYID))


def test_awaitable_source_is_rejected_with_the_right_check():
    source = Awaited(Honest())
    source.blocking = False
    with pytest.raises(AssertionError, match="use check_async_key_source"):
        check_key_source(source, keyid=KEYID)
