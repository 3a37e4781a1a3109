"""Every key source keeps the contract that `undersigned.testing` checks."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.discovery.adcp.agent_server import Operator
from tests.discovery.key_server import response
from tests.keys import JWKS, KEYS, PUBLIC, ed25519_key

from undersigned import (
    KeySet,
    VerificationKey,
)
from undersigned.discovery import (
    JWKSFile,
    KeySources,
    RemoteJWKS,
)
from undersigned.discovery.adcp import AdCPAgent, AdCPDirectory
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
    "RemoteJWKS": remote(RemoteJWKS),
    "KeySources": sources(KeySources, RemoteJWKS),
    "AdCPAgent": agent(AdCPAgent),
    "AdCPDirectory": directory(AdCPDirectory),
}


@pytest.mark.parametrize("name", BLOCKING)
def test_source_for_threads_keeps_the_contract(name, server, tmp_path):
    source, owner = BLOCKING[name](server, tmp_path)
    check_key_source(source, keyid=KEYID, owner=owner)


@pytest.mark.parametrize("name", AWAITED)
def test_source_for_tasks_keeps_the_contract(name, server, tmp_path):
    source, owner = AWAITED[name](server, tmp_path)
    asyncio.run(check_async_key_source(source, keyid=KEYID, owner=owner))
