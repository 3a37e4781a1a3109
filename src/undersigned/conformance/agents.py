"""What the key sources of Web Bot Auth read, and what their guard rejects: fields, cards, registries, addresses."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from ipaddress import ip_network
from typing import TYPE_CHECKING, cast

from undersigned.conformance.difference import Difference
from undersigned.conformance.document import Document, MalformedVector
from undersigned.message.signature_agent import read_signature_agents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from undersigned.discovery.addresses import Address


@dataclass(frozen=True, slots=True)
class AgentFieldCase:
    """A value of Signature-Agent in its typed form, and what its members name.

    Attributes:
        name: its name in its file.
        document: the case.
    """

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Compare the members: label, URL and type."""
        expected = [" ".join(map(one.text, ("label", "uri", "type"))) for one in self.document.documents("entries")]
        read = read_signature_agents(self.document.text("header"), form="typed")
        found = [f"{label} {agent.url} {agent.document}" for label, agent in read.items() if agent is not None]
        yield Difference.between("members", ", ".join(expected), ", ".join(found))


@dataclass(frozen=True, slots=True)
class CardCase:
    """The card of an agent, and whether it is valid.

    Attributes:
        name: its name in its file.
        document: the case.
    """

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Compare whether the card can be used."""
        # An extra of the distribution, which other vectors do not need.
        discovery = import_module("undersigned.discovery.web_bot_auth.card")
        failures = import_module("undersigned.discovery.failures")
        text, url = self.document.document("card").text_of(), self.document.text("url")
        found, note = "valid", ""
        try:
            discovery.read_card(text, url=url)
        except failures.UnusableDocument as unusable:
            found, note = "not valid", str(unusable)
        expected = "valid" if self.document.flag("valid") else "not valid"
        yield Difference.between("card", expected, found, note=note)


@dataclass(frozen=True, slots=True)
class RegistryCase:
    """A registry of agents, and the URLs of the cards that it lists.

    Attributes:
        name: its name in its file.
        document: the case.
    """

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Compare the URLs."""
        registry: ModuleType = import_module("undersigned.discovery.web_bot_auth.registry")
        found = registry.read_registry(self.document.text("registry_txt").encode("utf-8", "surrogatepass"))
        expected = self.document.texts("signature_agent_cards")
        yield Difference.between("cards", " ".join(expected), " ".join(cast("tuple[str, ...]", found)))


@dataclass(frozen=True, slots=True)
class RangeCase:
    """A group of address ranges that a fetch for another party must not reach.

    Attributes:
        name: the name of the group.
        document: the groups.
    """

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Check the first and the last address of each range."""
        addresses = import_module("undersigned.discovery.addresses")
        is_special = cast("Callable[[Address], bool]", addresses.is_special)
        for text in self.document.texts(self.name):
            try:
                network = ip_network(text)
            except ValueError:
                raise MalformedVector(f"{self.name} contains a text that is not a range of addresses") from None
            for address in (network[0], network[-1]):
                found = "rejected" if is_special(address) else "accepted"
                yield Difference.between(f"address in {text}", "rejected", found)
