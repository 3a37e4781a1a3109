from __future__ import annotations

import asyncio
import contextlib
import errno
import inspect
import pathlib
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from unittest.mock import Mock

import pytest
import time_machine
from freezegun import freeze_time
from tests.keys import (
    BODY,
    KEYS,
    NONCE,
    NOW,
    OTHER_PUBLIC,
    PRIVATE,
    PUBLIC,
    URL,
    Awaited,
    renamed,
    replace_parts,
    signed_request,
    verifier,
)
from tests.verification.stages import Found, finished

from undersigned import (
    AsyncVerifier,
    ConfigurationError,
    KeyPair,
    KeySet,
    MemoryReplayStore,
    Request,
    RevocationList,
    SignatureError,
    SignatureRejected,
    Signer,
    SigningKey,
    VerificationKey,
    VerificationUnavailable,
    Verifier,
    profiles,
)
from undersigned.discovery import KeySources, RevocationSources
from undersigned.errors import KeySourceError
from undersigned.message import Content
from undersigned.replay import NoConnection
from undersigned.signature.rules import Caps, ReplayRule
from undersigned.tokens import WorkloadTokenKeys

SECRET = "s3cr3t of the source"


def with_caps(caps):
    return profiles.ADCP_3_2.derive(replay=ReplayRule(caps=caps))


class SyncDriver:
    """The sync driver, spoken to as both are spoken to here."""

    make = Verifier

    @staticmethod
    def run(result):
        return finished(result) if inspect.iscoroutine(result) else result


class AsyncDriver:
    """The async driver over sources that answer at once."""

    make = AsyncVerifier

    @staticmethod
    def run(result):
        return asyncio.run(result)


class AwaitingDriver(AsyncDriver):
    """The async driver over sources whose answers have to be awaited."""

    @staticmethod
    def make(profile, *, keys, replay, clock):
        return AsyncVerifier(profile, keys=Awaited(keys), replay=Awaited(replay), clock=clock)


DRIVERS = pytest.mark.parametrize("driver", [SyncDriver, AsyncDriver])


def make(driver, *, profile=profiles.ADCP_3_2, clock=lambda: NOW, **sources):
    return driver.make(profile, **{"keys": KEYS, "replay": MemoryReplayStore(), "clock": clock, **sources})


class Broken:
    """A source that cannot be asked."""

    blocking = False

    def find(self, _keyid):
        raise OSError(SECRET)

    def full(self, _keyid, **_options):
        raise OSError(SECRET)

    def claim(self, _keyid, _nonce, **_options):
        raise OSError(SECRET)


class BrokenAtTheClaim(Broken):
    def full(self, _keyid, **_options):
        return False

    def claim(self, _keyid, _nonce, **_options):
        raise BrokenPipeError from OSError(errno.ECONNREFUSED, SECRET)


class Recording(MemoryReplayStore):
    """A store that remembers how it was asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def full(self, keyid, **options):
        self.asked.append(("full", keyid, options))
        return super().full(keyid, **options)

    def claim(self, keyid, nonce, **options):
        self.asked.append(("claim", keyid, nonce, options))
        return super().claim(keyid, nonce, **options)


ALL_DRIVERS = pytest.mark.parametrize("driver", [SyncDriver, AsyncDriver, AwaitingDriver])


def code_of(driver, subject, request) -> tuple[str, object]:
    with pytest.raises(SignatureError) as caught:
        driver.run(subject.verify(request))
    return caught.value.code.removeprefix("request_"), caught.value.step


@ALL_DRIVERS
def test_signed_request_is_verified_once(driver):
    subject = make(driver)
    verified = driver.run(subject.verify(signed_request()))
    assert (verified.keyid, verified.target_uri) == ("buyer-ed25519", URL)
    assert code_of(driver, subject, signed_request())[0] == "signature_replayed"


@DRIVERS
def test_changed_body_is_rejected_and_its_nonce_stays_fresh(driver):
    subject = make(driver)
    assert code_of(driver, subject, replace_parts(signed_request(), body=b"{}"))[0] == "signature_digest_mismatch"
    assert driver.run(subject.verify(signed_request()))


@DRIVERS
def test_signed_body_that_is_rejected_spends_its_nonce(driver):
    subject = make(driver)
    request = signed_request(body=b'{"a":1,"a":2}')
    codes = []
    for _ in range(2):
        with pytest.raises(SignatureError) as caught:
            driver.run(subject.verify(request))
        codes.append(caught.value.code)
    assert codes == ["request_body_malformed", "request_signature_replayed"]


@DRIVERS
def test_sender_without_a_key_writes_nothing_to_the_store(driver):
    store = MemoryReplayStore()
    subject = make(driver, replay=store)
    for request in (
        replace_parts(signed_request(), method="PUT"),
        replace_parts(signed_request(), url="https://h/"),
        replace_parts(signed_request(), body=b""),
        replace_parts(signed_request(), fields=[*signed_request().fields, ("host", "h")]),
    ):
        with pytest.raises(SignatureError):
            driver.run(subject.verify(request))
    assert len(store) == 0


@DRIVERS
def test_nonce_is_claimed_until_the_signature_expires(driver):
    store = Recording()
    caps = Caps(per_key=7, total=8)
    times = iter([NOW, NOW + 2])
    subject = make(driver, profile=with_caps(caps), replay=store, clock=lambda: next(times))
    verified = driver.run(subject.verify(signed_request()))
    assert store.asked == [
        ("full", RIGHT.thumbprint, {"now": NOW, "caps": caps}),
        ("claim", RIGHT.thumbprint, verified.nonce, {"now": NOW + 2, "until": NOW + 360.0, "caps": caps}),
    ]


def asked_of(store: Recording) -> list[str]:
    return [name for name, *_ in store.asked]


@DRIVERS
def test_stranger_does_not_reach_the_store_and_an_accepted_request_reaches_it_once(driver):
    store = Recording()
    subject = make(driver, replay=store)
    driver.run(subject.verify(signed_request()))
    store.asked.clear()
    for number in range(20):
        forged = replace_parts(signed_request(nonce=f"{number:022}"), method="PUT")
        assert code_of(driver, subject, forged) == ("signature_invalid", 10)
        assert code_of(driver, subject, renamed(forged, f"stranger {number}")) == ("signature_key_unknown", 7)
    assert store.asked == []
    driver.run(subject.verify(signed_request(nonce="B" * 22)))
    assert asked_of(store) == ["claim"]


@DRIVERS
def test_stranger_makes_the_store_be_asked_once_for_a_key_not_seen_before(driver):
    store = Recording()
    subject = make(driver, replay=store)
    for _ in range(3):
        assert code_of(driver, subject, replace_parts(signed_request(), method="PUT"))[0] == "signature_invalid"
    assert asked_of(store) == ["full"]


@DRIVERS
def test_store_is_asked_about_a_key_at_its_cap_once_a_second(driver):
    time = [float(NOW)]
    store = Recording()
    subject = make(driver, profile=with_caps(Caps(per_key=1)), replay=store, clock=lambda: time[0])
    driver.run(subject.verify(signed_request()))
    # The claim finds that the cap is reached, and from then on nothing is verified.
    assert code_of(driver, subject, signed_request(nonce="B" * 22)) == ("signature_rate_abuse", 13)
    assert asked_of(store) == ["full", "claim", "claim"]
    for seconds, asked in ((0, 0), (0.9, 0), (1.1, 1), (2, 0), (2.2, 1)):
        time[0], before = NOW + seconds, len(store.asked)
        assert code_of(driver, subject, signed_request(nonce="B" * 22)) == ("signature_rate_abuse", "9a")
        assert asked_of(store)[before:] == ["full"] * asked
    time[0] = NOW + 1400
    driver.run(subject.verify(signed_request(created=NOW + 1400, nonce="C" * 22)))


@DRIVERS
def test_store_that_fails_at_step_9a_is_asked_again(driver):
    store = BrokenAtTheClaim()
    fails = [True, True, False]

    def full(_keyid, **_options):
        if fails.pop(0):
            raise OSError(SECRET)
        return False

    store.full = full
    subject = make(driver, replay=store)
    forged = replace_parts(signed_request(), method="PUT")
    codes = [code_of(driver, subject, forged) for _ in range(4)]
    assert codes == [("signature_store_unavailable", "9a")] * 2 + [("signature_invalid", 10)] * 2


def test_requests_that_come_while_the_store_is_asked_do_not_ask_it():
    class Slow(Awaited):
        asked = 0

        async def full(self, keyid, **options):
            self.asked += 1
            return await super().full(keyid, **options)

    async def flood(subject) -> set[str]:
        forged = replace_parts(signed_request(), method="PUT")
        errors = await asyncio.gather(*[subject.verify(forged) for _ in range(50)], return_exceptions=True)
        return {error.code for error in errors}

    store = Slow(MemoryReplayStore())
    assert asyncio.run(flood(make(AsyncDriver, replay=store))) == {"request_signature_invalid"}
    assert store.asked == 1


def test_memory_of_caps_is_bounded():
    class AnyKey:
        """A source in which everybody may publish keys."""

        blocking = False

        def find(self, lookup):
            return [replace(RIGHT, replay_name=lookup.keyid)]

    store = Recording()
    subject = make(SyncDriver, keys=AnyKey(), replay=store)
    request = signed_request()
    for number in [*range(10_000 + 1), 0]:
        assert code_of(SyncDriver, subject, renamed(request, f"stranger {number}")) == ("signature_invalid", 10)
    assert len(store.asked) == 10_000 + 2


@DRIVERS
def test_delayed_body_is_rejected_when_its_nonce_was_forgotten(driver):
    # The headers pass while the nonce is live; the rest of the body comes when a store may have dropped it.
    time = [float(NOW)]
    subject = make(driver, clock=lambda: time[0])
    held = signed_request()
    assert driver.run(subject.verify(held))
    time[0] = NOW + 359
    proven = driver.run(subject.authenticate(held))
    digest = proven.running_digest()
    digest.update(BODY)
    time[0] = NOW + 1000
    later = {"created": NOW + 1000, "nonce": "A" * 22}
    assert driver.run(subject.verify(signed_request(**later)))
    with pytest.raises(SignatureRejected, match=r"^request_signature_window_invalid\b"):
        driver.run(subject.complete(proven, Content((BODY,)), digest=digest))
    time[0] = NOW + 359
    with pytest.raises(SignatureRejected, match=r"^request_signature_replayed\b"):
        driver.run(subject.complete(proven, Content((BODY,)), digest=digest))


@ALL_DRIVERS
@pytest.mark.parametrize(
    ("source", "code", "step"),
    [
        ({"keys": Broken()}, "request_signature_jwks_unavailable", 7),
        ({"replay": Broken()}, "request_signature_store_unavailable", "9a"),
        ({"replay": BrokenAtTheClaim()}, "request_signature_store_unavailable", 12),
    ],
)
def test_unavailable_source_raises_verification_unavailable(driver, source, code, step):
    with pytest.raises(VerificationUnavailable) as caught:
        driver.run(make(driver, **source).verify(signed_request()))
    error = caught.value
    assert (error.code, error.step) == (code, step)
    assert isinstance(error.__cause__, OSError)
    assert ("raised BrokenPipeError (Connection refused)" in error.detail) == (step == 12)
    assert SECRET not in f"{error} {error!r} {error.detail} {error.explain()}"


class Answers:
    """A key source that returns its answer, or raises it."""

    blocking = False

    def __init__(self, answer):
        self._answer = answer

    def find(self, _lookup):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@DRIVERS
@pytest.mark.parametrize("answer", ["buyer-ed25519", {"kid": "buyer-ed25519"}, True, object()])
def test_answer_of_a_key_source_that_is_no_sequence_of_keys_is_unavailable(driver, answer):
    assert code_of(driver, make(driver, keys=Answers(answer)), signed_request()) == ("signature_jwks_unavailable", 7)


@DRIVERS
@pytest.mark.parametrize(
    "reason",
    [
        "signature_jwks_unavailable",
        "signature_jwks_untrusted",
        "signature_brand_json_unreachable",
        "signature_key_origin_mismatch",
    ],
)
def test_reason_raised_by_a_key_source_is_the_reason_of_the_rejection(driver, reason):
    with pytest.raises(SignatureError) as caught:
        driver.run(make(driver, keys=Answers(KeySourceError(reason, "it is so"))).verify(signed_request()))
    assert (caught.value.reason, caught.value.step, caught.value.detail) == (reason, 7, "it is so")
    assert isinstance(caught.value, VerificationUnavailable) is reason.endswith(("unavailable", "unreachable"))


@DRIVERS
def test_unavailable_source_is_not_asked_when_the_request_is_rejected_earlier(driver):
    subject = make(driver, keys=Broken(), replay=Broken())
    assert code_of(driver, subject, Request("GET", URL))[0] == "signature_required"


def test_cancellation_of_a_verification_is_raised():
    class Hanging:
        async def find(self, _keyid):
            await asyncio.Event().wait()

    async def cancelled():
        task = asyncio.create_task(make(AsyncDriver, keys=Hanging()).verify(signed_request()))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


@DRIVERS
@pytest.mark.parametrize(
    ("change", "option"),
    [
        ({"profile": "adcp-3.2"}, "profile"),
        ({"profile": None}, "profile"),
        ({"keys": {"keys": []}}, "keys"),
        ({"keys": None}, "keys"),
        ({"keys": [PUBLIC]}, "keys"),
        ({"keys": "keys/public.jwks.json"}, "keys"),
        ({"keys": b"{}"}, "keys"),
        ({"keys": bytearray(b"{}")}, "keys"),
        ({"keys": pathlib.Path("keys/public.jwks.json")}, "keys"),
    ],
)
def test_argument_of_the_wrong_type_is_rejected_at_construction(driver, change, option):
    with pytest.raises(ConfigurationError) as caught:
        make(driver, **change)
    assert str(caught.value).startswith(option)


@DRIVERS
@pytest.mark.parametrize("change", [{"revocations": {"buyer-ed25519"}}, {"replay": {}}])
def test_source_without_its_methods_is_no_source(driver, change):
    with pytest.raises(AttributeError):
        make(driver, **change)


class AwaitedList:
    """A revocation source whose answers have to be awaited."""

    blocking = True

    async def current(self, _owner):
        return REVOKED


@pytest.mark.parametrize(
    ("option", "source"),
    [
        ("keys", Awaited(KEYS)),
        ("keys", KeySources({"a": KEYS, "b": Awaited(KEYS)})),
        ("keys", KeySources({"a": KeySources({"a": Awaited(KEYS)})})),
        ("keys", WorkloadTokenKeys({"example.com": Awaited(KEYS)})),
        ("replay", Awaited(MemoryReplayStore())),
        ("revocations", AwaitedList()),
        ("revocations", RevocationSources({"a": AwaitedList()})),
    ],
)
def test_sync_verifier_rejects_an_async_source_also_inside_another(option, source):
    with pytest.raises(ConfigurationError, match=f"^{option}: .*AsyncVerifier"):
        make(SyncDriver, **{option: source})


@pytest.mark.parametrize("option", ["keys", "replay", "revocations"])
@pytest.mark.parametrize("blocking", [True, False, None])
def test_verifier_blocks_unless_each_of_its_sources_says_that_it_does_not(option, blocking):
    source = {"keys": Keys(RIGHT), "replay": Recording(), "revocations": Revoking("", REVOKED)}[option]
    if blocking is None:
        source = Mock(spec=["find", "claim", "full", "current"])
    else:
        source.blocking = blocking
    assert verifier(**{option: source}).blocking is (blocking is not False)


def test_revocation_source_may_be_awaited():
    with pytest.raises(SignatureRejected, match=r"^request_signature_key_revoked\b"):
        asyncio.run(make(AsyncDriver, revocations=AwaitedList()).verify(signed_request()))


def test_both_verifiers_take_the_same_arguments():
    def names(kind):
        return list(inspect.signature(kind).parameters)

    assert names(Verifier) == names(AsyncVerifier)
    for method in ("verify", "authenticate", "complete"):
        assert names(getattr(Verifier, method)) == names(getattr(AsyncVerifier, method))


def test_verifier_repr_shows_no_keys():
    assert "buyer" not in repr(verifier())
    assert verifier().profile is profiles.ADCP_3_2


@pytest.mark.parametrize(
    "freeze", [freeze_time, partial(time_machine.travel, tick=False)], ids=["freezegun", "time-machine"]
)
def test_wall_clock_is_the_default_and_a_test_may_freeze_it(freeze):
    made_before = Verifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore())
    with pytest.raises(SignatureRejected, match=r"^request_signature_window_invalid\b"):
        made_before.verify(signed_request())
    with freeze(datetime.fromtimestamp(NOW, UTC)):
        assert made_before.verify(signed_request())
        signed = Signer(SigningKey.from_jwk(PRIVATE), profile=profiles.ADCP_3_2).sign(Request("GET", URL))
        assert f";created={NOW};" in dict(signed)["Signature-Input"]


class Waiting:
    """A source that hides that its answers have to be awaited."""

    blocking = False

    def find(self, _keyid):
        return asyncio.sleep(0)

    def full(self, _keyid, **_options):
        return False

    def claim(self, _keyid, _nonce, **_options):
        return "fresh"


def test_async_source_is_unavailable_to_a_sync_verifier():
    source = Waiting()
    verifier = Verifier(profiles.ADCP_3_2, keys=source, replay=source, clock=lambda: NOW)
    with pytest.raises(VerificationUnavailable, match=r"^request_signature_jwks_unavailable\b") as caught:
        verifier.verify(signed_request())
    assert "AsyncVerifier" in str(caught.value.__cause__)


def test_sync_verifier_does_not_wait_for_a_source_that_goes_on_waiting():
    class Stubborn(Waiting):
        async def _wait(self):
            while True:
                with contextlib.suppress(RuntimeError):
                    await asyncio.sleep(0)

        def find(self, _lookup):
            return self._wait()

    verifier = Verifier(profiles.ADCP_3_2, keys=Stubborn(), replay=Stubborn(), clock=lambda: NOW)
    with pytest.raises(RuntimeError, match="AsyncVerifier"):
        verifier.verify(signed_request())


@DRIVERS
@pytest.mark.parametrize(
    ("changes", "options", "base_known"),
    [({"url": f"{URL}x"}, {}, True), ({"body": b"{}"}, {}, True), ({}, {"keys": Found()}, False)],
)
def test_error_carries_keyid_creation_time_and_the_rebuilt_base(driver, changes, options, base_known):
    subject = make(driver, **options)
    with pytest.raises(SignatureRejected) as caught:
        driver.run(subject.verify(replace_parts(signed_request(), **changes)))
    assert (caught.value.keyid, caught.value.created) == ("buyer-ed25519", NOW)
    assert (caught.value.signature_base is not None) == base_known


class Keys:
    """A source of given keys, which may find others at a second look."""

    blocking = False

    def __init__(self, *keys, others=()):
        self.asked = []
        self._keys = keys
        self._others = others
        self.asks_again = bool(others)

    def find(self, lookup):
        self.asked.append(lookup)
        if lookup.is_second_try and isinstance(self._others, Exception):
            raise self._others
        return self._others if lookup.is_second_try else self._keys


RIGHT = VerificationKey.from_jwk(PUBLIC, owner="buyer.example.com")
WRONG = VerificationKey.from_jwk({**OTHER_PUBLIC, "kid": PUBLIC["kid"]}, owner="other.example.com")
UNFIT = VerificationKey.from_jwk({**PUBLIC, "use": "enc"}, owner="third.example.com")


@DRIVERS
def test_verified_signature_names_the_owner_of_the_key(driver):
    assert driver.run(make(driver, keys=Keys(RIGHT)).verify(signed_request())).signer == "buyer.example.com"
    assert driver.run(make(driver).verify(signed_request())).signer == ""


@DRIVERS
def test_verifying_key_is_found_among_several_with_its_keyid(driver):
    for keys in ([WRONG, RIGHT], [UNFIT, RIGHT], [RIGHT, WRONG], [UNFIT] * 9 + [WRONG] * 3 + [RIGHT]):
        verified = driver.run(make(driver, keys=Keys(*keys)).verify(signed_request()))
        assert verified.signer == "buyer.example.com"


@DRIVERS
def test_no_more_than_four_keys_are_tried(driver):
    assert code_of(driver, make(driver, keys=Keys(*[WRONG] * 4, RIGHT)), signed_request())[0] == "signature_invalid"


@DRIVERS
@pytest.mark.parametrize("signer", [RIGHT, WRONG], ids=["one signed", "none signed"])
@pytest.mark.parametrize("capped", [(), (WRONG,)], ids=["below the caps", "at a cap"])
def test_each_key_is_tried_once(driver, signer, capped, monkeypatch):
    keys = [WRONG, replace(WRONG, owner="fourth.example.com"), replace(signer, owner="last.example.com")]
    tried, verifies = [], VerificationKey.verifies

    def noted(key, *args, **options):
        tried.append(key.owner)
        return verifies(key, *args, **options)

    monkeypatch.setattr(VerificationKey, "verifies", noted)
    with contextlib.suppress(SignatureRejected):
        driver.run(make(driver, keys=Keys(*keys), replay=FullFor(*capped)).verify(signed_request()))
    assert tried == [key.owner for key in keys]


@DRIVERS
def test_replay_store_is_asked_by_the_thumbprint_of_the_key_that_verifies(driver):
    store, request = Recording(), signed_request()
    driver.run(make(driver, keys=Keys(WRONG, RIGHT), replay=store).verify(request))
    asked = [(name, key) for name, key, *_ in store.asked]
    assert asked == [("full", RIGHT.thumbprint), ("claim", RIGHT.thumbprint)]


class FullFor(MemoryReplayStore):
    def __init__(self, *keys):
        super().__init__()
        self._names = {key.replay_name for key in keys}

    def full(self, keyid, **options):
        del options
        return keyid in self._names


@DRIVERS
def test_cap_of_one_owner_does_not_stop_another(driver):
    subject = make(driver, keys=Keys(WRONG, RIGHT), replay=FullFor(WRONG))
    assert driver.run(subject.verify(signed_request())).signer == "buyer.example.com"


@DRIVERS
def test_reached_cap_is_reported_even_when_another_key_was_tried(driver):
    subject = make(driver, keys=Keys(WRONG, RIGHT), replay=FullFor(RIGHT))
    assert code_of(driver, subject, signed_request())[0] == "signature_rate_abuse"


@DRIVERS
def test_reached_cap_is_reported_when_no_key_verifies_and_one_was_not_tried(driver):
    other = VerificationKey.from_jwk(KeyPair.generate(keyid=PUBLIC["kid"]).public["keys"][0])
    subject = make(driver, keys=Keys(WRONG, other), replay=FullFor(WRONG))
    with pytest.raises(SignatureRejected, match=r"^request_signature_rate_abuse\b") as caught:
        driver.run(subject.verify(signed_request()))
    assert caught.value.signature_base is not None


@DRIVERS
@pytest.mark.parametrize(
    ("keys", "others", "code", "asked"),
    [
        ([WRONG], [WRONG, RIGHT], None, 2),
        ([], [RIGHT], None, 2),
        ([RIGHT], [WRONG], None, 1),
        ([UNFIT], [WRONG], "signature_invalid", 2),
        ([WRONG], [WRONG], "signature_invalid", 2),
        ([WRONG], 7, "signature_invalid", 2),
        ([WRONG], OSError("down"), "signature_invalid", 2),
        ([WRONG], KeySourceError("signature_jwks_unavailable", "no"), "signature_jwks_unavailable", 2),
        ([WRONG], KeySourceError("signature_key_unknown", "no"), "signature_invalid", 2),
    ],
)
def test_second_look_is_taken_when_no_key_verifies_and_decides_if_it_may_find_the_one_that_signed(
    driver, keys, others, code, asked
):
    source = Keys(*keys, others=others)
    subject = make(driver, keys=source)
    if code is None:
        assert driver.run(subject.verify(signed_request())).signer == "buyer.example.com"
    else:
        assert code_of(driver, subject, signed_request())[0] == code
    assert [lookup.is_second_try for lookup in source.asked] == [False, True][:asked]


@DRIVERS
def test_key_source_gets_the_hints_of_the_message(driver):
    source = Keys(RIGHT)
    driver.run(make(driver, keys=source).verify(signed_request()))
    [lookup] = source.asked
    assert (lookup.keyid, lookup.method, lookup.url, lookup.is_second_try) == ("buyer-ed25519", "POST", URL, False)
    assert lookup.parameters == {
        "created": NOW,
        "expires": NOW + 300,
        "nonce": NONCE,
        "keyid": "buyer-ed25519",
        "alg": "ed25519",
        "tag": "adcp/request-signing/v1",
    }
    assert lookup.covered_value("content-type") == "application/json"
    assert lookup.covered_value("signature") is None
    assert "content-digest" in lookup.components


class Revoking:
    """A source of one revocation list for one owner."""

    blocking = False

    def __init__(self, owner, answer):
        self._owner = owner
        self._answer = answer

    def current(self, owner):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer if owner == self._owner else None


REVOKED = RevocationList(revoked=frozenset({"buyer-ed25519"}), updated=NOW - 10, next_update=NOW + 10)


@DRIVERS
def test_revocation_applies_to_its_owner_only(driver):
    subject = make(driver, keys=Keys(WRONG, RIGHT), revocations=Revoking("other.example.com", REVOKED))
    assert driver.run(subject.verify(signed_request())).signer == "buyer.example.com"
    subject = make(driver, keys=Keys(RIGHT), revocations=Revoking("buyer.example.com", REVOKED))
    assert code_of(driver, subject, signed_request())[0] == "signature_key_revoked"


@DRIVERS
@pytest.mark.parametrize("own", [True, False])
def test_list_of_another_owner_than_the_one_who_signed_is_not_asked_for(driver, own):
    down = {"buyer.example.com" if own else "other.example.com": Revoking("", OSError(SECRET))}
    subject = make(driver, keys=Keys(WRONG, RIGHT), revocations=RevocationSources(down))
    if own:
        assert code_of(driver, subject, signed_request())[0] == "signature_revocation_stale"
    else:
        assert driver.run(subject.verify(signed_request())).signer == "buyer.example.com"


@DRIVERS
def test_unavailable_revocation_source_rejects_like_a_stale_list(driver):
    subject = make(driver, revocations=Revoking("", OSError(SECRET)))
    with pytest.raises(VerificationUnavailable, match=r"^request_signature_revocation_stale\b") as caught:
        driver.run(subject.verify(signed_request()))
    assert SECRET not in caught.value.explain()


@DRIVERS
def test_list_that_is_late_is_logged_once_before_it_is_stale(driver, caplog):
    """Whatever the source of the list is: with an interval of 15 minutes, that is an hour before it is stale."""
    now = [NOW]
    listed = [RevocationList(revoked=frozenset(), updated=NOW - 900, next_update=NOW, issuer="gov.example")]

    class Source:
        blocking = False

        def current(self, _owner):
            return listed[0]

    subject = make(driver, revocations=Source(), clock=lambda: now[0])
    for number in range(3):
        driver.run(subject.verify(signed_request(nonce=f"{number:022}")))
    [told] = caplog.messages
    assert told.startswith(
        "the revocation list of 'gov.example' is late: the next one was due 0 seconds ago. In 3600 s"
    )
    listed[0] = RevocationList(revoked=frozenset(), updated=NOW, next_update=NOW + 900, issuer="gov.example")
    driver.run(subject.verify(signed_request(nonce=f"{3:022}")))
    assert len(caplog.messages) == 1


@DRIVERS
def test_short_interval_is_logged_once_because_its_late_warning_comes_less_than_an_hour_before(driver, caplog):
    updated = [NOW - 60]

    class Source:
        blocking = False

        def current(self, _owner):
            return RevocationList(
                revoked=frozenset(), updated=updated[0], next_update=updated[0] + 899, issuer="gov.example"
            )

    subject = make(driver, revocations=Source())
    for number in range(3):
        updated[0] += number
        driver.run(subject.verify(signed_request(nonce=f"{number:022}")))
    [told] = caplog.messages
    assert told.startswith("the revocation lists of 'gov.example' have a short interval")
    assert "3596 seconds after it was due" in told


def test_memory_of_late_lists_is_bounded(caplog):
    made = iter(range(1024 + 10))

    class Source:
        blocking = False

        def current(self, _owner):
            return RevocationList(revoked=frozenset(), updated=NOW - 900 + next(made) / 1e4, next_update=NOW)

    subject = make(SyncDriver, revocations=Source())
    for number in range(1024 + 10):
        subject.verify(signed_request(nonce=f"{number:022}"))
    assert len(caplog.messages) == 1024 + 10
    assert len(subject._late) <= 1024  # noqa: SLF001 - nothing else shows it


@DRIVERS
def test_failure_that_a_store_names_is_in_the_log_and_so_is_its_end(driver, caplog):
    store = Failing()
    subject = make(driver, replay=store)
    for _ in range(2):
        with pytest.raises(VerificationUnavailable) as caught:
            driver.run(subject.verify(signed_request()))
        assert caught.value.detail == "the replay store: no connection of the pool"
    store.failure = None
    for number in range(2):
        driver.run(subject.verify(signed_request(nonce=f"{number:022}")))
    assert caplog.messages == ["the replay store answers again"]


class Failing(MemoryReplayStore):
    failure: Exception | None = NoConnection("no connection of the pool")

    def claim(self, keyid, nonce, **options):
        if self.failure is not None:
            raise self.failure
        return super().claim(keyid, nonce, **options)


@DRIVERS
def test_signature_is_accepted_once_whichever_source_finds_its_key(driver):
    store, request = MemoryReplayStore(), signed_request()
    key = RIGHT
    for owner, fresh in (("a.example", True), ("b.example", False), ("", False)):
        subject = make(driver, keys=KeySet.of(key.with_owner(owner)), replay=store)
        if fresh:
            assert driver.run(subject.verify(request)).signer == owner
        else:
            with pytest.raises(SignatureRejected, match=r"^request_signature_replayed\b"):
                driver.run(subject.verify(request))


@DRIVERS
def test_key_whose_end_may_have_been_forgotten_is_rejected_and_the_clock_is_named(driver):
    class Forgetful(MemoryReplayStore):
        def claim(self, *_, **__):
            return "forgotten"

    with pytest.raises(SignatureRejected, match=r"^request_signature_replayed\b") as caught:
        driver.run(make(driver, replay=Forgetful()).verify(signed_request()))
    assert "synchronize the clocks by NTP" in caught.value.detail
