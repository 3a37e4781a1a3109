"""The site that knows bots, run as its file says, and asked by the example bot, whose keys another server publishes."""

from __future__ import annotations

import json

import pytest
from tests.examples.programs import example, pair_in, ran_in, start_service
from tests.serving import https_server
from tests.wire import ask, raw_request

from undersigned import KeyPair, Request, Signer, profiles
from undersigned.message import DIRECTORY_PATH, write_signature_agent

ORIGIN = "http://127.0.0.1:{port}"
KNOWN, STRANGE = KeyPair.generate(), KeyPair.generate()


@pytest.fixture
def pem(key_server_certificate):
    return key_server_certificate


@pytest.fixture
def bot(pem):
    """The origin of the example bot, which publishes its directory."""
    app = example("web_bot_auth_directory").bot_site(KNOWN.public, KNOWN.signing_key(), "https://localhost")
    with https_server(app, pem) as port:
        yield f"https://localhost:{port}"


def site(form, pem, tmp_path):
    """The example site; yields its port."""
    options = {"FORM": form, "KEY_NETWORKS": "127.0.0.0/8 ::1/128", "MOST_UNKNOWN": "3"}
    return start_service("fastapi_web_bot_auth_app", tmp_path, **options, ORIGIN=ORIGIN, SSL_CERT_FILE=str(pem))


def sign(pair, agent, port):
    request = Request("GET", f"{ORIGIN.format(port=port)}/", [("Signature-Agent", agent)])
    fields = Signer(pair.signing_key(), profile=profiles.WEB_BOT_AUTH_STRING).sign(request)
    return raw_request("GET", "/", [*request.fields, *fields], host=f"127.0.0.1:{port}")


@pytest.mark.parametrize("form", ["string", "typed", "jwks"])
def test_site_greets_the_example_bot_in_every_form(form, bot, pem, tmp_path):
    pair_in(tmp_path, "keys", KNOWN)
    with site(form, pem, tmp_path) as port:
        done = ran_in(tmp_path, "web_bot_auth_client", BOT=bot, SITE=ORIGIN.format(port=port), FORM=form)
    status, _, body = done.stdout.partition(" ")
    assert (done.returncode, status, done.stderr) == (0, "200", "")
    assert json.loads(body) == {"hello": bot + DIRECTORY_PATH}


def test_site_throttles_an_unknown_bot_and_rejects_a_forged_one(bot, pem, tmp_path):
    agent = write_signature_agent(bot, form="string")
    with site("string", pem, tmp_path) as port:
        known = sign(KNOWN, agent, port)
        forged = known.replace(b'"@authority" ', b'"@authority" "@method" ')
        assert forged != known
        # A key that the directory does not list, and a directory that does not answer: nobody knows who that is.
        unlisted = sign(STRANGE, agent, port)
        unreachable = sign(STRANGE, write_signature_agent("https://localhost:9", form="string"), port)
        plain = raw_request("GET", "/", host=f"127.0.0.1:{port}")
        for raw in (plain, unlisted, unreachable):
            assert ask(port, raw).json == {"hello": "stranger"}
        assert ask(port, unlisted).status == 429
        answer = ask(port, forged)
        assert answer.status == 403
        assert "accept-signature" in answer.fields
        assert ask(port, known).json == {"hello": bot + DIRECTORY_PATH}
        # The same request again is a replay.
        assert ask(port, known).status == 403
