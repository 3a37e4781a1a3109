"""Messages: requests signed by hand, so that the library under test makes no vector.

Nothing of the library is imported here. The recipe has the canonical target and the component values; hashlib makes the
digest, and cryptography the signature.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.vectors.recipes.keys import Key, b64url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NOW = 1_790_000_000
BODY = '{"plan_id":"plan_own_1","packages":[{"product_id":"p-1","budget":250.5}],"note":"caf\u00e9"}'
TYPE = "application/json"
BARE = ("@method", "@target-uri", "@authority")
TYPED = (*BARE, "content-type")
FULL = (*TYPED, "content-digest")
PARAMETERS = ("created", "expires", "nonce", "keyid", "alg", "tag")
NOBODYS = b"\x2a" * 64
"""Bytes that nobody signed: a message that is rejected before step 10 must not need a valid signature."""

Pairs = tuple[tuple[str, str], ...]


def quoted(component: str) -> str:
    """A component identifier as it is written in a base."""
    return component if '"' in component else f'"{component}"'


@dataclass(frozen=True, kw_only=True)
class Flavor:
    """What differs between the endpoints that vectors are for."""

    folder: str
    url: str
    prefix: str
    tag: str
    padded: bool
    digest_padded: bool
    digest: str
    key: Key
    p256: Key
    revoked: Key
    misused: Key
    capability: Mapping[str, object] = field(default_factory=dict)
    members: Mapping[str, object] = field(default_factory=dict)

    def bytes_field(self, data: bytes) -> str:
        return f":{base64.b64encode(data).decode() if self.padded else b64url(data)}:"

    def digest_of(self, body: str, *algorithms: str) -> str:
        members = []
        for name in algorithms or ("sha-256",):
            data = hashlib.new(name.replace("-", ""), body.encode()).digest()
            members.append(f"{name}=:{base64.b64encode(data).decode() if self.digest_padded else b64url(data)}:")
        return ", ".join(members)


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A request, and the values that its reader gives to its target and components.

    `target` and `authority` are the canonical values if `url` is not canonical. `values` are the values of derived
    components, and of components with parameters, by identifier.
    """

    method: str = "POST"
    url: str = ""
    target: str = ""
    authority: str = ""
    headers: Pairs = ()
    body: str = BODY
    values: Mapping[str, str] = field(default_factory=dict)

    def value(self, identifier: str) -> str | None:
        target = self.target or self.url
        authority = self.authority or urlsplit(target).netloc
        known = {'"@method"': self.method, '"@target-uri"': target, '"@authority"': authority, **self.values}
        lines = [value for name, value in self.headers if quoted(name.lower()) == identifier]
        return known.get(identifier, ", ".join(lines) if lines else None)

    def base(self, covered: tuple[str, ...], text: str) -> str | None:
        """The signature base, or None if a component has no value."""
        lines = [(identifier, self.value(identifier)) for identifier in covered]
        if any(value is None for _, value in lines):
            return None
        return "\n".join([f"{identifier}: {value}" for identifier, value in [*lines, ('"@signature-params"', text)]])


STEPS = {
    "signature_required": 0, "signature_header_malformed": 1, "signature_params_incomplete": 2,
    "signature_tag_invalid": 3, "signature_alg_not_allowed": 4, "signature_window_invalid": 5,
    "signature_components_incomplete": 6, "signature_components_unexpected": 6, "signature_key_unknown": 7,
    "signature_jwks_unavailable": 7, "signature_key_purpose_invalid": 8, "signature_key_revoked": 9,
    "signature_revocation_stale": 9, "signature_rate_abuse": "9a", "signature_store_unavailable": "9a",
    "signature_invalid": 10, "target_uri_malformed": 10, "signature_digest_mismatch": 11, "signature_replayed": 12,
    "body_malformed": 14,
}  # fmt: skip
"""The step that rejects by each code, unless a recipe names another one."""


@dataclass(frozen=True)
class Recipe:
    """One vector: a request, how it was signed, what was done to it, and its expected outcome.

    `covered` and `parameters` are the raw components and parameters of the signature; None leaves a parameter out. In
    the two fields `input` and `signature`, {} means the signature's own member; None leaves the field out. `written`
    turns the signed value of the member into the value that is sent. `changes` are the changes to the request on its
    way, `replaced` the changes to its fields; None removes a field. `based` says whether the verifier has a base.
    """

    name: str
    rule: str
    _: KW_ONLY
    sent: Sent = field(default_factory=Sent)
    signed: bool = True
    covered: tuple[str, ...] | None = None
    parameters: Mapping[str, str | int | None] = field(default_factory=dict)
    order: tuple[str, ...] = PARAMETERS
    label: str = "sig1"
    key: Key | None = None
    signer: Key | None = None
    proven: bool = True
    mangle: Callable[[bytes], bytes] = bytes
    written: Callable[[str], str] = str
    input: str | None = "{}"
    signature: str | None = "{}"
    digest: str | None = ""
    digests: tuple[str, ...] = ()
    changes: Mapping[str, object] = field(default_factory=dict)
    replaced: Mapping[str, str | None] = field(default_factory=dict)
    code: str | None = None
    step: int | str | None = None
    expected: Mapping[str, object] = field(default_factory=dict)
    state: Mapping[str, object] = field(default_factory=dict)
    capability: Mapping[str, object] | None = field(default_factory=dict)
    jwks: tuple[Mapping[str, object], ...] = ()
    based: bool = True

    @property
    def failed(self) -> int | str | None:
        """The step that rejects the request, if one does."""
        return STEPS[self.code] if self.code and self.step is None else self.step


@dataclass(frozen=True)
class Message:
    """A recipe at an endpoint."""

    recipe: Recipe
    flavor: Flavor

    @property
    def vector(self) -> dict[str, object]:
        """The vector, in the published format."""
        recipe, received = self.recipe, self.received
        headers = [*received.headers, *self.signature_fields]
        repeated = len({name.lower() for name, _ in headers}) < len(headers)
        request = {"method": received.method, "url": received.url, "headers": headers if repeated else dict(headers)}
        base = received.base(self.covered, self.text) if self.reaches_a_base else None
        return {
            "name": recipe.rule if recipe.code is None else f"step {recipe.failed}: {recipe.rule}",
            **self.flavor.members,
            "reference_now": NOW,
            "request": {**request, **({"body": received.body} if received.body else {})},
            **({} if recipe.capability is None else self.optional("verifier_capability", self.capability)),
            **({"jwks_override": {"keys": recipe.jwks}} if recipe.jwks else {"jwks_ref": [self.key.kid]}),
            **self.optional("test_harness_state", recipe.state),
            **({} if base is None else {"expected_signature_base": base}),
            "expected_outcome": self.outcome,
        }

    @property
    def key(self) -> Key:
        return self.recipe.key or self.flavor.key

    @property
    def outcome(self) -> dict[str, object]:
        code = self.recipe.code
        outcome = {} if code is None else {"error_code": self.flavor.prefix + code, "failed_step": self.recipe.failed}
        return {"success": code is None, **outcome, **self.recipe.expected}

    @property
    def capability(self) -> Mapping[str, object]:
        return {**self.flavor.capability, **(self.recipe.capability or {})}

    @property
    def reaches_a_base(self) -> bool:
        """Whether the verifier has a base, or would have one if the operation were not checked first."""
        recipe = self.recipe
        screened = recipe.failed in {1, 2, 3, 4, 5, 6} or recipe.code == "target_uri_malformed"
        return recipe.signed and recipe.based and recipe.input is not None and not screened

    @property
    def covered(self) -> tuple[str, ...]:
        default = FULL if self.recipe.sent.body or self.flavor.prefix == "webhook_" else BARE
        return tuple(map(quoted, default if self.recipe.covered is None else self.recipe.covered))

    @property
    def text(self) -> str:
        """The value of @signature-params."""
        nonce = b64url(hashlib.sha256(f"{self.flavor.folder} {self.recipe.name}".encode()).digest()[:16])
        default = {
            "created": NOW,
            "expires": NOW + 300,
            "nonce": f'"{nonce}"',
            "keyid": f'"{self.key.kid}"',
            "alg": f'"{self.key.algorithm}"',
            "tag": f'"{self.flavor.tag}"',
        }
        given = {**default, **self.recipe.parameters}
        names = [*self.recipe.order, *(name for name in given if name not in default)]
        parameters = "".join(f";{name}={given[name]}" for name in names if given[name] is not None)
        return f"({' '.join(self.covered)}){parameters}"

    @property
    def sent(self) -> Sent:
        """The request that was signed, its fields complete."""
        recipe = self.recipe
        sent = replace(recipe.sent, url=recipe.sent.url or self.flavor.url)
        names = {name.lower() for name, _ in sent.headers}
        headers = list(sent.headers)
        if "content-type" not in names and ('"content-type"' in self.covered or sent.body):
            headers.insert(0, ("Content-Type", TYPE))
        digest = recipe.digest
        if digest == "":
            digest = self.flavor.digest_of(sent.body, *recipe.digests) if '"content-digest"' in self.covered else None
        if digest is not None:
            headers.append(("Content-Digest", digest))
        return replace(sent, headers=tuple(headers))

    @property
    def received(self) -> Sent:
        """The request as it arrives."""
        sent, replaced = replace(self.sent, **self.recipe.changes), self.recipe.replaced
        headers = [(name, replaced.get(name, value)) for name, value in sent.headers]
        headers += [(name, value) for name, value in replaced.items() if name not in dict(sent.headers)]
        return replace(sent, headers=tuple((name, value) for name, value in headers if value is not None))

    @property
    def signature_fields(self) -> list[tuple[str, str]]:
        recipe = self.recipe
        if not recipe.signed:
            return []
        base = self.sent.base(self.covered, self.text)
        signature = (recipe.signer or self.key).sign(base) if recipe.proven and base is not None else NOBODYS
        members = {
            "Signature-Input": (recipe.input, f"{recipe.label}={recipe.written(self.text)}"),
            "Signature": (recipe.signature, f"{recipe.label}={self.flavor.bytes_field(recipe.mangle(signature))}"),
        }
        return [(name, form.replace("{}", own)) for name, (form, own) in members.items() if form is not None]

    @staticmethod
    def optional(name: str, members: Mapping[str, object]) -> dict[str, object]:
        return {name: dict(members)} if members else {}
