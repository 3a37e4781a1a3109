"""What an application sees behind the middleware: of the target what it sees without, and else what was signed."""

from __future__ import annotations

import asyncio

import pytest
from tests.attack import targets
from tests.attack.asking import Seen
from tests.drive import DIALECTS, MOUNTS, Message, call_asgi, call_wsgi, environ_of, scope_of, takes
from tests.keys import BODY, HOST, JSON_FIELD, ORIGIN, signer, verifier

from undersigned import MalformedURL, Policy, Request, SigningError, asgi, canonicalize, wsgi

ROUTES = ("/adcp/create_media_buy", "/adcp/get_products", "/api/adcp/p", "/a%2Fb//c;d/caf%C3%A9", "/")
SIGNED, UNDER_A_POLICY = "signed", "unsigned, under a policy"


def message_of(random, kind: str) -> Message | None:
    """Return a message for a mutated target: signed for its canonical form, or not signed."""
    target = targets.mutate(random, random.choice(ROUTES))
    return prepared(target, kind, targets.fields(random)) if takes(Message(target)) else None


def prepared(target: str, kind: str, fields=()) -> Message | None:
    if kind is UNDER_A_POLICY:
        return Message(target, "POST", fields)
    try:
        url = str(canonicalize(ORIGIN + target))
        return Message(target, "POST", [*fields, *signer().sign(Request("POST", url, [("Host", HOST)]))])
    except (MalformedURL, SigningError):
        return None


def expected(message: Message, kind: str) -> Message:
    """Return what an application behind nothing is sent if it sees the same.

    A signed request is sent with its canonical target. A policy does not touch what it does not name.
    """
    if kind is UNDER_A_POLICY:
        return message
    url = canonicalize(ORIGIN + message.target, received=True)
    query = "" if url.query is None else f"?{url.query}"
    return Message(url.path + query, message.method, message.fields, message.body)


def first(kind: str):
    return (
        message
        for route in ROUTES
        for target in targets.first(route)
        if takes(Message(target)) and (message := prepared(target, kind)) is not None
    )


def options(kind: str) -> dict:
    return {"verifier": verifier(), "origins": [ORIGIN], "policy": Policy() if kind is UNDER_A_POLICY else None}


@pytest.mark.parametrize("kind", [SIGNED, UNDER_A_POLICY])
@pytest.mark.parametrize(
    ("root_path", "adds"),
    [("", False), ("/api", False), ("/api", True)],
    ids=["no root path", "root path", "uvicorn's"],
)
def test_an_asgi_application_sees_the_target_that_was_signed_or_sent(search, kind, root_path, adds):
    seen = Seen()
    guarded = asgi.SignatureMiddleware(seen.asgi, server_adds_root_path=adds, **options(kind))

    async def run() -> None:
        for message in search.of(first(kind), lambda random: message_of(random, kind)):
            if message is None:
                continue
            await call_asgi(guarded, scope_of(message, root_path=root_path, adds_root_path=adds))
            found = seen.told()
            if found is None:
                continue
            search.reach()
            await call_asgi(seen.asgi, scope_of(expected(message, kind), root_path=root_path, adds_root_path=adds))
            if (wanted := seen.told()) != found:
                search.find(str(sorted(key for key in found if found[key] != wanted[key])), message.target)

    asyncio.run(run())
    search.finish(reached=search.tried // 20)


@pytest.mark.parametrize("kind", [SIGNED, UNDER_A_POLICY])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_wsgi_application_sees_the_target_that_was_signed_or_sent(search, kind, dialect):
    seen = Seen()
    guarded = wsgi.SignatureMiddleware(seen.wsgi, **options(kind))
    mounts = MOUNTS[dialect]

    def mutated(random) -> tuple[Message | None, str]:
        return message_of(random, kind), random.choice(mounts)

    for message, mount in search.of(((message, mounts[-1]) for message in first(kind)), mutated):
        environ = None if message is None else environ_of(message, dialect, script_name=mount)
        if environ is None:
            continue
        call_wsgi(guarded, environ)
        found = seen.told()
        if found is None:
            continue
        search.reach()
        wanted_message = expected(message, kind)
        if dialect == "werkzeug" and wanted_message.target.startswith("//"):
            # Werkzeug's own server merges the slashes a target starts with, where nobody can see it.
            continue
        plain = environ_of(wanted_message, dialect, script_name=mount)
        if plain is None:
            search.find("the server rejects the canonical target", message.target)
            continue
        call_wsgi(seen.wsgi, plain)
        wanted = seen.told()
        # A server that levels paths shows the canonical one in its own way; the application gets it as it was signed.
        differ = sorted(key for key in found if found[key] != wanted[key] and key != "PATH_INFO")
        if _level(found) != _level(wanted) or (dialect == "gunicorn" and found["PATH_INFO"] != wanted["PATH_INFO"]):
            differ.append("PATH_INFO")
        if differ:
            search.find(
                f"{mount} {differ}",
                f"{message.target} {[found[key] for key in differ]} {[wanted[key] for key in differ]}",
            )
    search.finish(reached=search.tried // 20)


def _level(seen: dict) -> list[str]:
    path = seen["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
    return [segment for segment in path.replace("%2F", "/").replace("%2f", "/").split("/") if segment not in {"", "."}]


CHANGED = "/adcp/caf%C3%A9/create_media_buy?a=%7e&b=1"
OTHERS = ' \t/.%?#&;,:"=()aAzZ019_-+*~\\@\x00\x7f\u00c3'
"""Characters that mean something somewhere; next to each, the one that differs in case or in the last bit is tried."""


def whole() -> Message:
    request = Request("POST", ORIGIN + CHANGED, [("Host", HOST), JSON_FIELD], BODY)
    return Message(CHANGED, "POST", [JSON_FIELD, *signer().sign(request)], BODY)


def changed(text: str) -> list[str]:
    """Return `text` with one character replaced, left out or added."""
    made = (
        text[:at] + other + text[at + 1 :]
        for at, one in enumerate(text)
        for other in (*OTHERS, one.swapcase(), chr(ord(one) ^ 1), "", one * 2)
    )
    return [other for other in dict.fromkeys(made) if other != text]


def messages() -> list[Message]:
    sent = whole()
    made = [Message(target, sent.method, sent.fields, sent.body) for target in changed(sent.target)]
    made += [Message(sent.target, method, sent.fields, sent.body) for method in changed(sent.method)]
    made += [Message(sent.target, sent.method, sent.fields, body.encode()) for body in changed(sent.body.decode())]
    for at, (name, value) in enumerate(sent.fields):
        for field in [(name, other) for other in changed(value)] + [(other, value) for other in changed(name)]:
            fields = [*sent.fields[:at], field, *sent.fields[at + 1 :]]
            made.append(Message(sent.target, sent.method, fields, sent.body))
    return [message for message in made if takes(message)]


def got(side: str, message: Message, runner: asyncio.Runner) -> dict[str, object] | None:
    """Return what an application inside a new middleware gets, or nothing."""
    seen = Seen()
    if side == "asgi":
        guarded = asgi.SignatureMiddleware(seen.asgi, verifier=verifier(), origins=[ORIGIN])
        runner.run(call_asgi(guarded, scope_of(message), message.body))
    elif (environ := environ_of(message, "gunicorn")) is not None:
        call_wsgi(wsgi.SignatureMiddleware(seen.wsgi, verifier=verifier(), origins=[ORIGIN]), environ)
    return seen.told()


@pytest.mark.parametrize("side", ["asgi", "wsgi"])
def test_one_octet_changes_nothing_that_an_application_sees(side):
    with asyncio.Runner() as runner:
        wanted = got(side, whole(), runner)
        assert wanted
        found = [message for message in messages() if got(side, message, runner) not in (None, wanted)]
    assert not found, found[:5]
