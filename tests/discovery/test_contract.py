"""Every key source keeps the contract that `undersigned.testing` checks."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.discovery.adcp.agent_server import Operator
from tests.discovery.key_server import response
from tests.keys import JWKS, PUBLIC, ed25519_key

from undersigned import KeySet, VerificationKey
from undersigned.discovery import JWKSFile, KeySources, RemoteJWKS
from undersigned.discovery.adcp import AdCPAgent, AdCPDirectory
from undersigned.testing import check_async_key_source, check_key_source

KEYID, OWNER = "buyer-ed25519", "buyer.example.com"


def fixed(_server, _path):
    return KeySet.from_jwks(JWKS, owner=OWNER), OWNER


def of_key(_server, _path):
    return KeySet.of(VerificationKey.from_public_key(ed25519_key().public_key(), keyid=KEYID)), ""


def file(_server, path):
    (path / "jwks.json").write_text(json.dumps(JWKS))
    return JWKSFile(path / "jwks.json"), ""


def remote(server, _path):
    server.answers["/jwks.json"] = response(JWKS)
    return RemoteJWKS(server.url(), network=server.network()), ""


def several(server, path):
    clash = KeySet.from_jwks({"keys": [PUBLIC | {"kid": "another"}]})
    return KeySources({OWNER: remote(server, path)[0], "seller.example.com": clash}), OWNER


def agent(server, _path):
    return AdCPAgent(Operator(server).url, network=server.network()), ""


def directory(server, _path):
    operator = Operator(server)
    return AdCPDirectory([operator.url], network=server.network()), operator.url


@pytest.mark.parametrize("make", [fixed, of_key, file, remote, several, agent, directory])
@pytest.mark.parametrize("is_async", [False, True], ids=["threads", "tasks"])
def test_source_keeps_the_contract(make, is_async, server, tmp_path):
    source, owner = make(server, tmp_path)
    if is_async:
        asyncio.run(check_async_key_source(source, keyid=KEYID, owner=owner))
    else:
        check_key_source(source, keyid=KEYID, owner=owner)
