"""RFC 9421 as data: component values, signature bases and signatures, over the canonical target.

Only requests in origin-form are signed and verified here, with two algorithms. Other cases are set aside. So are cases
that the AdCP profiles reject although the RFC leaves a choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from undersigned.conformance.difference import Difference
from undersigned.conformance.document import Document, MalformedVector
from undersigned.message.request import Request
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.signature.keys import VerificationKey
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undersigned.message.signature_input import SignatureInput

Kind: TypeAlias = Literal["components", "bases", "vectors"]

RESPONSE = "responses: this library signs and verifies requests"
UNREGISTERED = "sf on an unregistered field: only the application knows its type"
METHOD_CASE = "methods in lower case: the AdCP profiles require upper case, because servers change the case"
OTHER_FORM = "targets in absolute-form or asterisk-form: a request is verified in origin-form"
REPEATED = "repeated labels and parameters: the AdCP profiles reject them; the RFC uses the last one"
OTHER_ALGORITHM = "signatures by algorithms that no profile accepts; their bases are compared"

SET_ASIDE: Mapping[str, str] = MappingProxyType(
    {
        "2.1.1-sf": UNREGISTERED,
        "2.1.1-sf-duplicate-key": UNREGISTERED,
        "2.1.1-sf-duplicate-parameter": UNREGISTERED,
        "2.1.1-sf-boolean-true": UNREGISTERED,
        "2.1.1-sf-two-lines": UNREGISTERED,
        "2.1.1-sf-decimal": UNREGISTERED,
        "2.1.1-sf-bytes": UNREGISTERED,
        "2.1.1-sf-strings-tokens": UNREGISTERED,
        "2.1.1-sf-list": UNREGISTERED,
        "2.1.1-sf-item": UNREGISTERED,
        "2.2.1-lowercase-method": METHOD_CASE,
        "2.2.5-absolute-form": OTHER_FORM,
        "2.2.5-asterisk-form": OTHER_FORM,
        "base-duplicate-label": REPEATED,
        "base-duplicate-param": REPEATED,
    }
)
"""The ids of the cases whose result here differs from the file, each with the reason."""

ALGORITHMS: Mapping[str, str] = MappingProxyType({"ed25519": "EdDSA", "ecdsa-p256-sha256": "ES256"})
"""The `alg` of a JWK for each algorithm."""


@dataclass(frozen=True, slots=True)
class RFC9421Case:
    """A case of a component, of a base, or of a signature with its base.

    Attributes:
        name: its kind and id.
        kind: the list that contains it.
        document: the case.
        keys: the keys of its file.
    """

    name: str
    kind: Kind
    document: Document
    keys: Document

    @property
    def set_aside(self) -> str:
        """Return the reason why it cannot be graded, or ""."""
        message = self.document.members.get("message")
        if isinstance(message, dict) and message.get("kind") == "response":
            return RESPONSE
        return SET_ASIDE.get(self.name.partition("/")[2], "")

    @property
    def signature_set_aside(self) -> str:
        """Return the reason why its signature cannot be graded, or "". Its base is still compared."""
        algorithm = self.document.members.get("alg")
        other = isinstance(algorithm, str) and algorithm not in ALGORITHMS
        return OTHER_ALGORITHM if self.kind == "vectors" and other else ""

    def differences(self) -> Iterator[Difference | None]:
        """Compare the component's line or the base, and then whether the signature is valid."""
        case = self.document
        expected = "an error" if case.text("error", "") else case.text(_EXPECTED[self.kind])
        try:
            found = self.line() if self.kind == "components" else self.base()
        except (UnresolvableComponent, MalformedField) as error:
            yield Difference.between(_SUBJECT[self.kind], expected, "an error", note=str(error))
            return
        yield Difference.between(_SUBJECT[self.kind], expected, found)
        if self.kind == "vectors" and not self.signature_set_aside:
            valid = str(case.flag("valid")).lower()
            yield Difference.between("signature valid", valid, str(self.verifies(found)).lower())

    @property
    def request(self) -> Request:
        """Return the request of the case."""
        sent = self.document.document("message")
        return Request(sent.text("method"), sent.text("target_uri"), sent.pairs("fields"))

    def line(self) -> str:
        """Return the line of the case's component.

        Raises:
            MalformedField: the identifier is malformed.
            UnresolvableComponent: the request has no value for it.
        """
        request = self.request
        components = parse_signature_input(f"s=({self.document.text('component')})")["s"].components
        if len(components) != 1:
            raise MalformedVector("component must be exactly one identifier")
        return f"{components[0].text}: {ComponentValues(request, canonicalize(request.url)).value(components[0])}"

    def base(self) -> str:
        """Return the base for the case's label; raise the errors of `line`."""
        request, read = self.request, self._input()
        return signature_base(ComponentValues(request, canonicalize(request.url)), read.components, read.text)

    def verifies(self, base: str) -> bool:
        """Return whether the signature of the case's label is valid for `base` and the case's key."""
        case = self.document
        published = self.keys.document(case.text("key")).document("jwk").members
        public = {name: member for name, member in published.items() if name != "d"}
        jwk = {**public, "kid": case.text("key"), "alg": ALGORITHMS[case.text("alg")]}
        try:
            signatures = parse_byte_sequences(self.request.fields.combined.get("signature") or "", "base64")
        except MalformedField:
            return False
        signature = signatures.get(case.text("label"), b"")
        return VerificationKey.from_jwk(jwk).verifies(signature, base.encode("ascii"))

    def _input(self) -> SignatureInput:
        members = parse_signature_input(self.request.fields.combined.get("signature-input") or "")
        label = self.document.text("label")
        if label not in members:
            raise MalformedVector("label is not a member of Signature-Input")
        return members[label]


_EXPECTED: Mapping[Kind, str] = MappingProxyType(
    {"components": "expected_line", "bases": "expected_base", "vectors": "signature_base"}
)
_SUBJECT: Mapping[Kind, str] = MappingProxyType(
    {"components": "component", "bases": "signature base", "vectors": "signature base"}
)
