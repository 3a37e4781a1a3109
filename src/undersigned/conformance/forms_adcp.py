"""The forms of AdCP's vectors: requests with their outcome, and lists of cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned import profiles
from undersigned.conformance.body_integrity import BodyIntegrityFact
from undersigned.conformance.canonicalization import CanonicalizationCase
from undersigned.conformance.document import MalformedVector
from undersigned.conformance.form import Form, has, has_in_list, make_vector, named_objects
from undersigned.conformance.method_names import MethodDeclaration, MethodMatch
from undersigned.conformance.signing import SigningVector
from undersigned.conformance.vector import Endpoint
from undersigned.policy.a2a import A2AResolver
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import PathResolver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undersigned.conformance.document import Document
    from undersigned.conformance.file import VectorFile
    from undersigned.conformance.grade import Gradable
    from undersigned.conformance.keys import Keys
    from undersigned.policy.operation import OperationResolver
    from undersigned.signature.profile import Profile

_VERSIONS: Final[Mapping[str, Profile]] = {"3.1": profiles.ADCP_3_1, "3.2": profiles.ADCP_3_2}
_RESOLVERS: Final[Mapping[str, type[OperationResolver]]] = {
    "http": PathResolver,
    "mcp": JSONRPCResolver,
    "a2a": A2AResolver,
}


def endpoint(document: Document) -> Endpoint:
    """Return the endpoint that receives a request.

    A webhook has no `signing_profile_version`. A published call over A2A has a `tier`; our own vectors have a
    `transport`.

    Raises:
        MalformedVector: the version or the transport is not known.
    """
    if "signing_profile_version" not in document.members:
        return Endpoint(profiles.ADCP_WEBHOOK, PathResolver())
    version = document.text("signing_profile_version")
    transport = document.text("transport", "a2a" if "tier" in document.members else "http")
    if version not in _VERSIONS or transport not in _RESOLVERS:
        raise MalformedVector("signing_profile_version or transport is not one that is known")
    return Endpoint(_VERSIONS[version], _RESOLVERS[transport]())


def _is_request(file: VectorFile) -> bool:
    return has(file, "request") and has(file, "expected_outcome", "reference_now", "jwks_ref", "jwks_override")


def _request(file: VectorFile, keys: Keys) -> Iterator[Gradable]:
    yield make_vector(_signing, f"{file.path.parent.name}/{file.path.stem}", file, keys)


def _signing(name: str, file: VectorFile, keys: Keys) -> SigningVector:
    return SigningVector(name, file.document, endpoint(file.document), keys.ring(file.path))


def _canonicalization(file: VectorFile, _keys: Keys) -> Iterator[Gradable]:
    for case, name in named_objects(file.document, "cases", "name"):
        yield CanonicalizationCase(name, case)


def _body_integrity(file: VectorFile, _keys: Keys) -> Iterator[Gradable]:
    for case, name in named_objects(file.document, "cases", "id"):
        yield BodyIntegrityFact(name, case)


def _method_names(file: VectorFile, _keys: Keys) -> Iterator[Gradable]:
    document = file.document
    for family, name in named_objects(document, "valid_declarations", "family"):
        methods = family.texts("methods")
        for method in methods:
            yield MethodMatch(f"{name}: {method}", methods, method, matches=True)
    for method in document.texts("invalid_declarations"):
        yield MethodDeclaration(f"not to be declared: {method}", method)
    for case, name in named_objects(document, "exact_match_cases", "id"):
        declared, wire = case.texts("declared_methods"), case.text("wire_method")
        yield MethodMatch(name, declared, wire, matches=case.flag("matches"))


FORMS: Final = (
    Form(_is_request, _request, in_folder=True),
    Form(lambda file: has(file, "valid_declarations"), _method_names),
    Form(lambda file: has_in_list(file, "cases", "input_url"), _canonicalization),
    Form(lambda file: has_in_list(file, "cases", "endpoint_profile"), _body_integrity),
)
"""The forms, the most particular first."""
