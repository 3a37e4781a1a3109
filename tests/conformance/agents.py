"""What key sources of Web Bot Auth read, and what their guard rejects: fields, cards, addresses, keys."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

import http_sf
from tests.conformance.case import Case, File, same

from undersigned import UndersignedError, VerificationKey
from undersigned.discovery import Network
from undersigned.discovery.fetch_errors import UnusableDocument
from undersigned.discovery.web_bot_auth import read_card
from undersigned.message.signature_agent import read_signature_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def listed(check: Callable[[dict[str, Any]], None], member: str = "", name: str = "name") -> Any:
    """Return a reader of the vectors in a list: the whole file, or one of its members."""

    def read(file: File) -> Iterator[Case]:
        where = f"{member}/" if member else ""
        for index, case in enumerate(file.value.get(member, []) if member else file.value):
            of = f"{where}{case[name]}" if member else f"[{index}] {case[name]}"
            yield Case(file.name, of, partial(check, case), case)

    return read


def agent_field(case: dict[str, Any]) -> None:
    """Compare what the members of a Signature-Agent name: label, URL and type."""
    labels = http_sf.parse(case["header"].encode(), tltype="dictionary")
    read = {label: read_signature_agent(case["header"], form="typed", member=label) for label in labels}
    found = [(label, agent.url, str(agent.document)) for label, agent in read.items() if agent is not None]
    same("members", [(one["label"], one["uri"], one["type"]) for one in case["entries"]], found)


def card(case: dict[str, Any]) -> None:
    """Compare whether the card of an agent can be used."""
    valid = False
    with suppress(UnusableDocument):
        read_card(json.dumps(case["card"]).encode(), url=case["url"])
        valid = True
    same("card is valid", case["valid"], valid)


def key_thumbprint(case: dict[str, Any]) -> None:
    """Compare the thumbprint of a JWK (RFC 7638), which is an object or a text."""
    jwk = json.loads(case["jwk"]) if isinstance(case["jwk"], str) else case["jwk"]
    same("thumbprint", case["thumbprint"], VerificationKey.from_jwk({"kid": "", **jwk}).thumbprint)


def ranges(file: File) -> Iterator[Case]:
    """Groups of address ranges that a fetch for another party must not reach."""
    for group, texts in file.value.items():
        yield Case(file.name, group, partial(_rejects, texts), texts)


def _rejects(texts: list[str]) -> None:
    for text in texts:
        network = ip_network(text)
        for address in (network[0], network[-1]):
            same(f"{address} in {text} is rejected", expected=True, found=_is_rejected(str(address)))


def _is_rejected(address: str) -> bool:
    try:
        Network().check([address])
    except UndersignedError:
        return True
    return False
