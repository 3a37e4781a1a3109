"""Every key source keeps the contract that `undersigned.testing` checks."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.discovery.adcp.agent_server import Operator
from tests.discovery.key_server import response
from tests.keys import JWKS, KEYS, PUBLIC, ed25519_key

from undersigned import (
    AsyncVerifier,
    ConfigurationError,
    KeySet,
    MemoryReplayStore,
    VerificationKey,
    Verifier,
    profiles,
)
from undersigned.discovery import (
    AsyncKeySources,
    AsyncRemoteJWKS,
    AsyncRemoteRevocationList,
    JWKSFile,
    KeySources,
    RemoteJWKS,
    RevocationSources,
)
from undersigned.discovery.activitypub import AsyncActorKeys
from undersigned.discovery.adcp import AdCPAgent, AdCPDirectory, AsyncAdCPAgent, AsyncAdCPDirectory
from undersigned.discovery.ucp import AsyncUCPKeys
from undersigned.discovery.web_bot_auth import AsyncWebBotAuthKeys
from undersigned.testing import check_async_key_source, check_key_source

KEYID, OWNER = "buyer-ed25519", "buyer.example.com"


def file(_server, tmp_path):
    (tmp_path / "jwks.json").write_text(json.dumps(JWKS))
    return JWKSFile(tmp_path / "jwks.json"), ""


def remote(kind):
    def make(server, _tmp_path):
        server.answers["/jwks.json"] = response(JWKS)
        return kind(server.url(), network=server.network()), ""

    return make


def sources(kind, remote_kind):
    def make(server, tmp_path):
        clash = KeySet.from_jwks({"keys": [PUBLIC | {"kid": "another"}]})
        return kind({OWNER: remote(remote_kind)(server, tmp_path)[0], "seller.example.com": clash}), OWNER

    return make


def agent(kind):
    def make(server, _tmp_path):
        operator = Operator(server)
        return kind(operator.url, network=server.network()), ""

    return make


def directory(kind):
    def make(server, _tmp_path):
        operator = Operator(server)
        return kind([operator.url], network=server.network()), operator.url

    return make


BLOCKING = {
    "KeySet.from_jwks": lambda _server, _path: (KeySet.from_jwks(JWKS, owner=OWNER), OWNER),
    "KeySet.of": lambda _server, _path: (
        KeySet.of(VerificationKey.from_public_key(ed25519_key().public_key(), keyid=KEYID)),
        "",
    ),
    "JWKSFile": file,
    "RemoteJWKS": remote(RemoteJWKS),
    "KeySources": sources(KeySources, RemoteJWKS),
    "AdCPAgent": agent(AdCPAgent),
    "AdCPDirectory": directory(AdCPDirectory),
}
AWAITED = {
    "KeySet": lambda _server, _path: (KEYS, ""),
    "AsyncRemoteJWKS": remote(AsyncRemoteJWKS),
    "AsyncKeySources": sources(AsyncKeySources, AsyncRemoteJWKS),
    "AsyncAdCPAgent": agent(AsyncAdCPAgent),
    "AsyncAdCPDirectory": directory(AsyncAdCPDirectory),
}


@pytest.mark.parametrize(
    "source",
    [
        AsyncRemoteJWKS("https://a.example/jwks.json"),
        AsyncKeySources({OWNER: KEYS}),
        AsyncAdCPAgent("https://a.example"),
        AsyncWebBotAuthKeys(form="string"),
        AsyncUCPKeys(),
        AsyncActorKeys(),
    ],
    ids=lambda source: type(source).__name__,
)
def test_source_for_tasks_is_rejected_by_a_verifier_for_threads(source):
    with pytest.raises(ConfigurationError, match=r"^keys: its answers have to be awaited; use AsyncVerifier$"):
        Verifier(profiles.ADCP_3_2, keys=source, replay=MemoryReplayStore())
    AsyncVerifier(profiles.ADCP_3_2, keys=source, replay=MemoryReplayStore())


def test_revocation_list_for_tasks_is_rejected_by_a_verifier_for_threads():
    fetched = AsyncRemoteRevocationList("https://a.example/list", issuer="https://a.example", keys=JWKS)
    with pytest.raises(ConfigurationError, match=r"^revocations: its answers have to be awaited; use AsyncVerifier$"):
        Verifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore(), revocations=fetched)
    both = RevocationSources({OWNER: fetched})
    assert Verifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore(), revocations=both).blocking


@pytest.mark.parametrize("name", BLOCKING)
def test_source_for_threads_keeps_the_contract(name, server, tmp_path):
    source, owner = BLOCKING[name](server, tmp_path)
    check_key_source(source, keyid=KEYID, owner=owner)


@pytest.mark.parametrize("name", AWAITED)
def test_source_for_tasks_keeps_the_contract(name, server, tmp_path):
    source, owner = AWAITED[name](server, tmp_path)
    asyncio.run(check_async_key_source(source, keyid=KEYID, owner=owner))
