"""The forms of files that are lists: requests to one URL, JWKs, and what key sources of Web Bot Auth read."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from undersigned.conformance.agents import AgentFieldCase, CardCase, RangeCase, RegistryCase
from undersigned.conformance.form import Aside, Form, has, make_vector
from undersigned.conformance.message import RequestMessage
from undersigned.conformance.published_key import PublishedKey
from undersigned.conformance.signed_message import SignedMessage
from undersigned.conformance.thumbprints import ThumbprintCase
from undersigned.message.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undersigned.conformance.document import Document
    from undersigned.conformance.file import VectorFile
    from undersigned.conformance.grade import Gradable
    from undersigned.conformance.keys import Keys

_DISCOVERY: Final = "httpcore2"
_INSTALL: Final = "install undersigned[discovery]"


def _is_list(file: VectorFile, *members: str) -> bool:
    return bool(file.documents) and all(member in case.members for case in file.documents for member in members)


def _targets(file: VectorFile, _keys: Keys) -> Iterator[Gradable]:
    for index, case in enumerate(file.documents):
        yield make_vector(_target, f"[{index}] {case.members.get('label')}", case)


def _target(name: str, case: Document) -> SignedMessage:
    fields = [("Signature-Input", case.text("signature_input")), ("Signature", case.text("signature"))]
    if "signature_agent" in case:
        fields.append(("Signature-Agent", case.text("signature_agent")))
    return SignedMessage(
        name=name,
        message=RequestMessage(Request("GET", case.text("target_url"), fields)),
        key=PublishedKey.read(case.members.get("key")),
        label=case.text("label"),
    )


def _thumbprints(file: VectorFile, _keys: Keys) -> Iterator[Gradable]:
    for index, case in enumerate(file.documents):
        yield ThumbprintCase(f"[{index}] {case.members.get('name')}", case)


def _agent_fields(file: VectorFile, _keys: Keys) -> Iterator[Gradable]:
    for index, case in enumerate(file.documents):
        yield AgentFieldCase(f"[{index}] {case.members.get('name')}", case)


def _documents(kind: Callable[[str, Document], Gradable]) -> Callable[[VectorFile, Keys], Iterator[Gradable | Aside]]:
    """Return a function that yields the vectors of a list of documents, which the package `discovery` reads."""

    def read(file: VectorFile, _keys: Keys) -> Iterator[Gradable | Aside]:
        if find_spec(_DISCOVERY) is None:
            yield Aside(len(file.documents), f"documents of agents: {_INSTALL}")
            return
        for index, case in enumerate(file.documents):
            yield kind(f"[{index}] {case.members.get('name')}", case)

    return read


def _ranges(file: VectorFile, _keys: Keys) -> Iterator[Gradable | Aside]:
    if find_spec(_DISCOVERY) is None:
        yield Aside(len(file.document.members), f"groups of address ranges: {_INSTALL}")
        return
    for group in file.document.members:
        yield RangeCase(group, file.document)


FORMS: Final = (
    Form(lambda file: _is_list(file, "target_url", "signature_input"), _targets),
    Form(lambda file: _is_list(file, "jwk", "thumbprint"), _thumbprints),
    Form(lambda file: _is_list(file, "header", "entries"), _agent_fields),
    Form(lambda file: _is_list(file, "card"), _documents(CardCase)),
    Form(lambda file: _is_list(file, "registry_txt"), _documents(RegistryCase)),
    Form(lambda file: has(file, "recommended_latest"), _ranges),
)
"""The forms, the most particular first."""
