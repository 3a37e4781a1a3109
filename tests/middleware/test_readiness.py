"""The readiness check, over ASGI and WSGI, and the function that it asks."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest
from tests import drive
from tests.keys import KEYS, NOW

from undersigned import (
    AsyncVerifier,
    ConfigurationError,
    MemoryReplayStore,
    RevocationList,
    Verifier,
    asgi,
    profiles,
    wsgi,
)
from undersigned.discovery import KeySources, RevocationSources
from undersigned.testing import FrozenNonceClock

LIST = RevocationList(revoked=frozenset(), updated=NOW - 60, next_update=NOW + 60)
STALE = RevocationList(revoked=frozenset(), updated=NOW - 7200, next_update=NOW - 7140)


class Store(MemoryReplayStore):
    """A store that can break, and counts its claims."""

    def __init__(self) -> None:
        super().__init__()
        self.failure: Exception | None = None
        self.claims = 0

    def claim(self, keyid, nonce, **options):
        self.claims += 1
        if self.failure is not None:
            raise self.failure
        return super().claim(keyid, nonce, **options)


class Keys:
    """A key source that may not have its keys yet."""

    blocking = False

    def __init__(self, *, ready: bool) -> None:
        self.ready = ready

    def find(self, lookup):
        return KEYS.find(lookup)

    def is_ready(self) -> bool:
        return self.ready


def verifier(kind=Verifier, *, profile=profiles.ADCP_3_2, keys=KEYS, replay=None, revocations=None):
    store = Store() if replay is None else replay
    return kind(profile, keys=keys, replay=store, revocations=revocations, clock=lambda: NOW)


def unready(made) -> tuple[str, ...]:
    return made.unready() if isinstance(made, Verifier) else asyncio.run(made.unready())


def broken() -> Store:
    store = Store()
    store.failure = OSError("no such host")
    return store


@pytest.mark.parametrize("kind", [Verifier, AsyncVerifier])
@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({}, ()),
        ({"revocations": LIST}, ()),
        ({"revocations": STALE}, ("revocations",)),
        ({"keys": Keys(ready=False), "replay": broken(), "revocations": STALE}, ("keys", "revocations", "store")),
        ({"keys": KeySources({"a": Keys(ready=False), "b": Keys(ready=True)})}, ()),
        ({"keys": KeySources({"a": Keys(ready=False), "b": Keys(ready=False)})}, ("keys",)),
        ({"revocations": RevocationSources({"a": STALE, "b": LIST})}, ()),
        ({"revocations": RevocationSources({"a": STALE})}, ("revocations",)),
    ],
)
def test_verifier_names_the_sources_that_cannot_answer(kind, sources, expected):
    assert unready(verifier(kind, **sources)) == expected


def test_store_is_not_asked_if_the_profile_remembers_nothing():
    assert unready(verifier(profile=profiles.ACTIVITYPUB, keys=Keys(ready=True), replay=broken())) == ()


def test_claims_of_the_check_do_not_stay_in_the_store():
    store, now = MemoryReplayStore(), [NOW]
    made = Verifier(profiles.ADCP_3_2, keys=KEYS, replay=store, clock=lambda: now[0])
    for _ in range(100):
        assert made.unready() == ()
        now[0] += 60
    assert len(store) < 20


def test_store_that_fails_and_recovers_is_logged_once_each(caplog):
    store = broken()
    made = verifier(replay=store)
    for _ in range(3):
        assert made.unready() == ("store",)
    store.failure = None
    for _ in range(3):
        assert made.unready() == ()
    assert caplog.messages == ["the replay store raised an exception", "the replay store answers again"]
    assert "no such host" in caplog.text


def call_asgi(app, path="/ready", method="GET", kind="http"):
    """The status and the content of an answer."""
    answer = asyncio.run(drive.call_asgi(app, drive.scope_of(drive.Message(path, method), kind=kind)))
    return answer.status, answer.content


def call_wsgi(app, path="/ready", method="GET"):
    answer = drive.call_wsgi(app, drive.environ_of(drive.Message(path, method), "gunicorn"))
    return answer.status, answer.content


async def asgi_app(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def wsgi_app(_environ, start_response):
    start_response("204 No Content", [])
    return []


ROUTES = pytest.mark.parametrize(
    ("call", "route", "app"),
    [(call_asgi, asgi.ReadyRoute, asgi_app), (call_wsgi, wsgi.ReadyRoute, wsgi_app)],
    ids=["asgi", "wsgi"],
)


@ROUTES
def test_route_answers_its_path_and_the_application_the_rest(call, route, app):
    made = route(app, verifier=verifier())
    assert call(made) == (200, b'{"ready": true, "unready": []}')
    assert call(made, method="HEAD") == (200, b"")
    for other in ({"path": "/"}, {"path": "/ready/"}, {"method": "POST"}):
        assert call(made, **other) == (204, b"")


def test_route_leaves_other_events_to_the_application():
    made = asgi.ReadyRoute(asgi_app, verifier=verifier())
    assert call_asgi(made, kind="lifespan") == (204, b"")


@ROUTES
def test_route_says_what_is_not_ready(call, route, app):
    made = route(app, verifier=verifier(replay=broken(), keys=Keys(ready=False)), path="/healthz")
    status, content = call(made, path="/healthz")
    assert (status, json.loads(content)) == (503, {"ready": False, "unready": ["keys", "store"]})


@ROUTES
def test_strangers_who_ask_do_not_reach_the_store_more_than_once_a_second(call, route, app, monkeypatch):
    clock = FrozenNonceClock(1000.0)
    monkeypatch.setattr(time, "monotonic", clock)
    store = Store()
    made = route(app, verifier=verifier(replay=store))
    for _ in range(100):
        assert call(made)[0] == 200
    assert store.claims == 1
    clock.now += 1
    assert call(made)[0] == 200
    assert store.claims == 2


class Hanging(Store):
    """A store that hangs in its second claim until it goes on, and whose later claims fail if `fails`."""

    def __init__(self, *, fails: bool) -> None:
        super().__init__()
        self.asked, self.going, self.fails = threading.Event(), threading.Event(), fails

    def claim(self, keyid, nonce, **options):
        if self.claims == 1 and not self.asked.is_set():
            self.asked.set()
            assert self.going.wait(60)
        elif self.fails and self.asked.is_set():
            raise OSError
        return super().claim(keyid, nonce, **options)


@pytest.mark.parametrize("never_answers", [False, True])
def test_one_caller_at_a_time_asks_and_others_get_the_last_answer_unless_it_never_comes(monkeypatch, never_answers):
    clock, store, first = FrozenNonceClock(1000.0), Hanging(fails=never_answers), list[int]()
    monkeypatch.setattr(time, "monotonic", clock)
    made = wsgi.ReadyRoute(wsgi_app, verifier=verifier(replay=store))
    assert call_wsgi(made)[0] == 200
    clock.now += 1
    thread = threading.Thread(target=lambda: first.append(call_wsgi(made)[0]))
    thread.start()
    try:
        assert store.asked.wait(60)
        assert call_wsgi(made)[0] == 200
        clock.now += 60 * never_answers
        assert call_wsgi(made)[0] == (503 if never_answers else 200)
    finally:
        store.going.set()
        thread.join(60)
    assert first == [200]


def test_blocking_sources_are_asked_in_a_thread():
    class Blocking(Store):
        blocking = True

        def claim(self, keyid, nonce, **options):
            assert threading.current_thread() is not threading.main_thread()
            return super().claim(keyid, nonce, **options)

    assert call_asgi(asgi.ReadyRoute(asgi_app, verifier=verifier(replay=Blocking())))[0] == 200


@pytest.mark.parametrize("route", [asgi.ReadyRoute, wsgi.ReadyRoute])
def test_path_that_no_request_has_is_rejected(route):
    with pytest.raises(ConfigurationError, match="path"):
        route(wsgi_app, verifier=verifier(), path="ready")
