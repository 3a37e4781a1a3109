"""The packages that sign and verify with ours: what each can do, and which changes it does not notice."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.utils import formatdate
from typing import TYPE_CHECKING

from tests.interop import ours
from tests.interop.peer import Order
from tests.interop.wire import TAMPERINGS

from undersigned import Profile, profiles
from undersigned.signature.rules import CoverageRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

COMPONENTS = ("@method", "@target-uri", "@authority", "content-type", "content-digest")
FIELDS = {"Content-Type": "application/json", "X-Plan": "gold"}
ASYMMETRIC = ours.ALGORITHMS[:-1]
WEB_CRYPTO = ("ed25519", "rsa-pss-sha512")
OF_ALGORITHMS = ("nothing", "signature", "content")


@dataclass(frozen=True)
class Package:
    """What a package can do, and what it does not check.

    docs/interop.md lists each disagreement with the text of the standard that decides it.

    Attributes:
        algorithms: those that it has and we have.
        components: what is covered.
        fields: what else a request has, by the algorithm.
        profile: our profile, by the algorithm and the components.
        codes: what we answer to a change, if it is another code than with other packages.
        unnoticed: the changes on the way that its verifier accepts.
        unverified: the algorithms whose signatures by it we reject.
        digests: whether its signer makes a Content-Digest.
        by_requests: whether our client is requests, and not httpx.
        covers_any: whether it covers any component, and not only those of the protocol that it is for.
    """

    algorithms: tuple[str, ...]
    components: tuple[str, ...] = COMPONENTS
    fields: Callable[[str], Mapping[str, str]] = lambda _algorithm: {}
    profile: Callable[[str, Sequence[str]], Profile] = ours.profile
    codes: Mapping[str, str] = field(default_factory=dict)
    unnoticed: frozenset[str] = frozenset()
    unverified: frozenset[str] = frozenset()
    digests: bool = False
    by_requests: bool = False
    covers_any: bool = True

    def changed(self, changes: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Each algorithm with each change on the way that says something of it: the others have one algorithm."""
        for at, algorithm in enumerate(self.algorithms):
            yield from ((algorithm, change) for change in ("nothing", *changes) if at == 0 or change in OF_ALGORITHMS)

    def order(self, algorithm: str) -> Order:
        return Order(self.components, ours.keyid(algorithm), fields={**FIELDS, **self.fields(algorithm)})


def signature_agent(_algorithm: str) -> Mapping[str, str]:
    return {"Signature-Agent": '"https://bot.example"'}


def signature_key(algorithm: str) -> Mapping[str, str]:
    """The public key in the request (Signature-Key, scheme hwk), by the names that JOSE has since RFC 9864."""
    jwk = {**ours.public_jwk(algorithm)}
    jwk = {**jwk, "alg": "Ed25519" if jwk["alg"] == "EdDSA" else jwk["alg"]}
    members = "".join(f';{name}="{jwk[name]}"' for name in ("alg", "kty", "crv", "x", "y", "n", "e") if name in jwk)
    return {"Signature-Key": f"sig1=hwk{members}"}


def web_bot_auth(algorithm: str, components: Sequence[str]) -> Profile:
    return profiles.WEB_BOT_AUTH_STRING.derive(
        coverage=CoverageRule(always=tuple(components)), algorithms=frozenset({algorithm})
    )


def adcp(version: str, published: Profile) -> Package:
    return Package(
        ("ed25519", "ecdsa-p256-sha256"),
        fields=lambda _algorithm: {"X-Version": version},
        profile=lambda algorithm, _components: published.derive(algorithms=frozenset({algorithm})),
        # A signature is valid for five minutes at most. One that began a second earlier is valid for longer.
        codes={
            **dict.fromkeys(TAMPERINGS, "request_signature_invalid"),
            "parameter": "request_signature_window_invalid",
            "content": "request_signature_digest_mismatch",
        },
        digests=True,
        by_requests=True,
        covers_any=False,
    )


PACKAGES = {
    "http-message-signatures": Package(
        ours.ALGORITHMS, unnoticed=frozenset({"content"}), unverified=frozenset({"rsa-pss-sha512"})
    ),
    "http-message-sig": Package(WEB_CRYPTO, unnoticed=frozenset({"content"})),
    "web-bot-auth": Package(
        WEB_CRYPTO,
        components=(*COMPONENTS, "signature-agent"),
        fields=signature_agent,
        profile=web_bot_auth,
        unnoticed=frozenset({"content"}),
    ),
    "hellocoop-httpsig": Package(
        ASYMMETRIC,
        components=("@method", "@authority", "@path", "content-type", "content-digest", "signature-key"),
        fields=signature_key,
        digests=True,
    ),
    "pypi-http-message-signatures": Package(ours.ALGORITHMS, digests=True),
    "pypi-requests-http-signature": Package(
        ours.ALGORITHMS,
        components=(*COMPONENTS, "date"),
        fields=lambda _algorithm: {"Date": formatdate(usegmt=True)},
        digests=True,
        by_requests=True,
    ),
    "pypi-wbactl": Package(
        ("ed25519",),
        components=(*COMPONENTS, "signature-agent"),
        fields=signature_agent,
        profile=web_bot_auth,
        unnoticed=frozenset({"content"}),
        covers_any=False,
    ),
    "pypi-botgate": Package(
        ("ed25519",),
        components=("@method", "@authority", "@path", "@query", "content-type", "content-digest", "signature-agent"),
        fields=signature_agent,
        profile=web_bot_auth,
        unnoticed=frozenset({"content"}),
        covers_any=False,
    ),
    "pypi-adcp 3.2": adcp("3.2", profiles.ADCP_3_2),
    "pypi-adcp 3.1": adcp("3.1", profiles.ADCP_3_1.derive(digest=profiles.ADCP_3_1.digest._replace(policy="required"))),
}
