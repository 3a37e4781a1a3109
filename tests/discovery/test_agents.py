from __future__ import annotations

from dataclasses import dataclass

from undersigned.discovery.agents import Agents


@dataclass(eq=False)
class Document:
    """What is kept of an agent: its keys, if it gave any."""

    keys: str | None = None

    def last(self) -> str | None:
        return self.keys


def test_new_agents_displace_the_oldest_new_agent_only():
    agents = Agents(2)
    known = agents.get("known", lambda: Document("keys"))
    assert agents.get("known", Document) is known
    new = [agents.get(name, Document) for name in "abc"]
    assert agents.get("known", Document) is known
    assert agents.get("c", Document) is new[2]
    assert agents.get("a", Document) is not new[0]
    assert len(agents.all()) == 3


def test_displaced_new_agent_that_gave_keys_meanwhile_is_kept():
    agents = Agents(1)
    first = agents.get("a", Document)
    first.keys = "keys"
    agents.get("b", Document)
    assert agents.get("a", Document) is first


def test_known_agent_that_was_asked_longest_ago_is_displaced():
    agents = Agents(2)
    first, second, third = (agents.get(name, lambda: Document("keys")) for name in "abc")
    assert [agents.get(name, Document) for name in "abc"] == [first, second, third]
    agents = Agents(2)
    kept = {}
    for name in "abacc":
        kept[name] = agents.get(name, lambda: Document("keys"))
        agents.get(name, Document)
    assert agents.get("a", Document) is kept["a"]
    assert agents.get("b", Document) is not kept["b"]
