"""The stages of a verification, each from a request."""

from __future__ import annotations

import pytest
from tests.keys import BODY, NOW, PUBLIC, signed_request

from undersigned import MemoryReplayStore, Request, SignatureError, VerificationKey, Verifier, profiles
from undersigned.message import Content

VERIFYING = VerificationKey.from_jwk(PUBLIC)


class Found:
    """A source that finds the same keys for every signature."""

    blocking = False

    def __init__(self, *keys):
        self._keys = keys

    def find(self, _lookup):
        return self._keys


class Answering(MemoryReplayStore):
    """A store that gives the same answers to every signature."""

    def __init__(self, claim="fresh", *, full=False):
        super().__init__()
        self._claim = claim
        self._full = full

    def full(self, _keyid, **_options):
        return self._full

    def claim(self, _keyid, _nonce, **_options):
        return self._claim


class Lists:
    """A source of revocation lists, one after the other."""

    blocking = False

    def __init__(self, *lists):
        self._lists = iter(lists)

    def current(self, _owner):
        return next(self._lists)


def finished(coroutine):
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the coroutine waits")


def verifier_of(*keys, profile=profiles.ADCP_3_2, now=NOW, replay=None, revocations=None) -> Verifier:
    """A verifier that finds these keys."""
    store = Answering() if replay is None else replay
    return Verifier(profile, keys=Found(*keys), replay=store, revocations=revocations, clock=lambda: now)


def screen_request(request: Request, profile=profiles.ADCP_3_2, *, now=NOW):
    """What a verifier knows of the first signature before it looks for a key (steps 0 to 6)."""
    screened = verifier_of(profile=profile, now=now).screen(request)
    if isinstance(screened[0], SignatureError):
        raise screened[0]
    return screened[0]


def prove_request(request: Request | None = None, *, key=VERIFYING, **options):
    """The signature of a request that has passed the steps 0 to 10."""
    keys = () if key is None else (key,)
    return finished(verifier_of(*keys, **options).authenticate(signed_request() if request is None else request))


def complete_request(
    request: Request | None = None, *, body: bytes = BODY, content=None, claim="fresh", later=NOW, fed=True, **options
):
    """The verified signature of a request, after all steps.

    `fed` is whether the digest gets the body, and `content` is what else the middleware has read.
    """
    proven = prove_request(request, **options)
    digest = proven.running_digest() if fed else None
    if digest is not None:
        digest.update(body)
    verifier = verifier_of(now=later, replay=Answering(claim), **options)
    return finished(verifier.complete(proven, Content((body,)) if content is None else content, digest=digest))


def rejection_of(call) -> tuple[str, object]:
    with pytest.raises(SignatureError) as caught:
        call()
    return caught.value.code.removeprefix("request_"), caught.value.step
