"""One octet: an application that gets a request of which one octet has changed sees exactly what was signed."""

from __future__ import annotations

import asyncio

import pytest
from tests.attack.asking import Seen
from tests.drive import Message, call_asgi, call_wsgi, environ_of, scope_of, takes
from tests.keys import BODY, HOST, JSON_FIELD, ORIGIN, signer, verifier

from undersigned import Request, asgi, wsgi

TARGET = "/adcp/caf%C3%A9/create_media_buy?a=%7e&b=1"
OTHERS = ' \t/.%?#&;,:"=()aAzZ019_-+*~\\@\x00\x7f\u00c3'
"""Characters that mean something somewhere; next to each, the one that differs in case or in the last bit is tried."""


def signed() -> Message:
    request = Request("POST", ORIGIN + TARGET, [("Host", HOST), JSON_FIELD], BODY)
    return Message(TARGET, "POST", [JSON_FIELD, *signer().sign(request)], BODY)


def changed(text: str) -> list[str]:
    """Return `text` with one character replaced, left out or added."""
    made = (
        text[:at] + other + text[at + 1 :]
        for at, one in enumerate(text)
        for other in (*OTHERS, one.swapcase(), chr(ord(one) ^ 1), "", one * 2)
    )
    return [other for other in dict.fromkeys(made) if other != text]


def messages() -> list[Message]:
    sent = signed()
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
        wanted = got(side, signed(), runner)
        assert wanted
        found = [message for message in messages() if got(side, message, runner) not in (None, wanted)]
    assert not found, found[:5]
