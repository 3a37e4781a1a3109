"""The rules of a profile: each part of what makes a signature acceptable, as data.

A `undersigned.Profile` is composed of them, and checks them when it is made. Each rule is a named tuple, so
`rule._replace(name=value)` returns a rule that differs in one value.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from undersigned.errors import AnswerForm, ConfigurationError, Reason, VerificationUnavailable
from undersigned.limits import MOST_SELECTED
from undersigned.message import token
from undersigned.message.content_digest import DIGEST_ALGORITHMS, DigestAlgorithm
from undersigned.message.reading import FieldType, field_type
from undersigned.message.structured_fields import KEY, Encoding, MalformedField

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from undersigned.errors import SignatureError
    from undersigned.message.coverage import Coverage
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Parameter

__all__ = [
    "Answers",
    "Caps",
    "CoverageRule",
    "DigestPolicy",
    "DigestRule",
    "KeyRule",
    "ParameterMode",
    "ParameterRule",
    "Pick",
    "Remembered",
    "ReplayRule",
    "Selection",
    "Validity",
]


def _check(option: str, holds: object, advice: str) -> None:
    if not holds:
        raise ConfigurationError(f"{option}: {advice}")


def _check_choice(option: str, value: object, literal: object) -> None:
    """Check that a value is one of the texts of a `Literal`."""
    values = get_args(literal)
    _check(option, value in values, f"give one of {', '.join(sorted(values))}")


def _check_seconds(option: str, seconds: int | None, least: int) -> None:
    """Check that a value is None or at least this many seconds."""
    _check(option, seconds is None or seconds >= least, f"give whole seconds, at least {least}")


def _check_texts(option: str, texts: Collection[str], valid: Callable[[str], object], *, example: str) -> None:
    """Check that an option is a tuple of texts, each of which is `valid`: a text alone would count as its letters."""
    are_valid = isinstance(texts, tuple) and all(map(valid, texts))
    _check(option, are_valid, f"give a tuple of valid names, such as {example}")


Pick = Literal["preferred", "only", "any", "all"]
"""Which signature is verified if a message has several.

`preferred`: the one with the profile's label, else the first with its tag, else the first. Its tag must be the
profile's. `only`: a message with several is rejected. `any`: those with the profile's tag, one after the other, until
one is valid. `all`: each of those with the profile's tag must be valid.
"""


class Selection(NamedTuple):
    """A rule that selects the signatures of a message that are of a profile.

    Attributes:
        tags: the accepted `tag` values; a signer writes the first. Empty: any tag, or none.
        skipped_tags: signatures with one of these tags are of another profile, and not looked at.
        label: the label that a signer writes, and that `preferred` takes first.
        pick: which signature is verified if there are several.
    """

    tags: tuple[str, ...] = ()
    skipped_tags: tuple[str, ...] = ()
    label: str = "sig1"
    pick: Pick = "preferred"

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        _check_choice("selection.pick", self.pick, Pick)
        for option, tags in (("tags", self.tags), ("skipped_tags", self.skipped_tags)):
            _check_texts(f"selection.{option}", tags, _is_tag, example='("my-app",), in printable ASCII')
        is_skipped = not set(self.tags).isdisjoint(self.skipped_tags)
        _check("selection.skipped_tags", not is_skipped, "a tag cannot be both accepted and skipped")
        advice = "use lower-case letters, digits and _ - . * (RFC 8941 section 3.1.2)"
        _check("selection.label", KEY.fullmatch(self.label), advice)

    @property
    def tag(self) -> str | None:
        """The tag that a signer writes, or None if it writes none."""
        return self.tags[0] if self.tags else None

    def accepts(self, tag: object) -> bool:
        """Return whether a signature with this tag (None if it has none) is of this profile."""
        return tag not in self.skipped_tags and (not self.tags or tag in self.tags)

    def labels(self, members: Mapping[str, Mapping[str, Parameter]]) -> Sequence[str]:
        """Return the labels of the signatures to verify, in their order; none if no signature is of this profile.

        Args:
            members: the parameters of each signature by its label.

        Raises:
            MalformedField: the message has several signatures, and the profile takes only one.
        """
        if self.pick == "only" and len(members) > 1:
            raise MalformedField("the message has several signatures, and the profile takes only one")
        if self.pick == "preferred" and self.label in members:
            return (self.label,)
        of_profile = [label for label, parameters in members.items() if self.accepts(parameters.get("tag"))]
        if self.pick == "preferred":
            return of_profile[:1] or tuple(members)[:1]
        return of_profile[: MOST_SELECTED + 1]


def _is_tag(text: str) -> bool:
    return text.isascii() and text.isprintable()


ParameterMode = Literal["required", "optional", "forbidden", "ignored"]
"""Whether a signature must, may or must not have a parameter, or may have it with any value of its type."""

ParameterType = Literal["string", "integer", "boolean"]
"""The type of a parameter: a String, an Integer or a Boolean (RFC 9651 section 3.3)."""

_Own: TypeAlias = tuple[ParameterMode, ParameterType]

PARAMETERS: Final = ("created", "expires", "nonce", "keyid", "alg", "tag")
"""The registered signature parameters, in the order that a signer writes them (RFC 9421 section 2.3)."""

SPELLING: Final = {str: "a string", int: "an integer", bool: "a boolean"}
"""How an error names the type of a parameter."""

_TYPES: Final[Mapping[str, type]] = {"string": str, "integer": int, "boolean": bool}
_REGISTERED: Final[Mapping[str, type]] = {name: int if name in {"created", "expires"} else str for name in PARAMETERS}
_DIGIT = "[A-Za-z0-9_-]"
_NONCE = f"(?>(?:{_DIGIT}{{4}})*)(?:{_DIGIT}{{2,3}})?"


class ParameterRule(NamedTuple):
    """A rule for the parameters of a signature. Parameters that it does not name may be signed, and are ignored.

    Attributes:
        created: whether a signature must have `created`. The next five say this for their own parameter.
        expires: whether it must have `expires`.
        nonce: whether it must have `nonce`.
        keyid: whether it must have `keyid`.
        alg: whether it must have `alg`. Unless it is ignored, it must agree with the key.
        tag: whether it must have `tag`.
        own: the profile's own parameters: the mode and type of each.
        nonce_bytes: the least bytes that a nonce decodes to, as unpadded Base64url. None: a nonce is any string.
        written: what a signer also writes, although it is not required: registered parameters and own booleans.
        audience: an own string, which must be the target URI of the request without its query. A signer writes it.
        echo: an own string of responses, which must be the nonce of the request's signature. A signer writes it.
        echo_if: a boolean of the request's signature, by which it asks for `echo`.
    """

    created: ParameterMode = "required"
    expires: ParameterMode = "required"
    nonce: ParameterMode = "required"
    keyid: ParameterMode = "required"
    alg: ParameterMode = "required"
    tag: ParameterMode = "required"
    own: Mapping[str, _Own] = {}
    nonce_bytes: int | None = None
    written: frozenset[str] = frozenset()
    audience: str = ""
    echo: str = ""
    echo_if: str = ""

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        for name in PARAMETERS:
            _check_choice(f"parameters.{name}", getattr(self, name), ParameterMode)
        for name, (mode, kind) in self.own.items():
            is_own = KEY.fullmatch(name) and name not in PARAMETERS
            _check("parameters.own", is_own, "map names in lower case to a mode and a type")
            is_rule = mode in get_args(ParameterMode) and kind in _TYPES
            _check("parameters.own", is_rule, f'{name}: give a mode and a type, such as ("required", "string")')
        writable = {*PARAMETERS, *(name for name, (_, kind) in self.own.items() if kind == "boolean")}
        advice = 'give a frozenset of names, such as frozenset({"created"})'
        _check("parameters.written", self.written <= writable, advice)
        types = self.types()
        for option, name in (("audience", self.audience), ("echo", self.echo)):
            is_text = not name or types.get(name) is str
            _check(f"parameters.{option}", is_text, "give the name of a string in parameters.own")
        clash = sorted(self.written & self.of_mode("forbidden"))
        _check("parameters.written", not clash, f"{''.join(clash[:1])} is forbidden, so a signer cannot write it")
        least = self.nonce_bytes
        _check("parameters.nonce_bytes", least is None or least >= 0, "give whole bytes, at least 0, or None")

    def of_mode(self, mode: ParameterMode) -> frozenset[str]:
        """Return the parameters that have this mode."""
        own = {name for name, (own_mode, _) in self.own.items() if own_mode == mode}
        return frozenset({name for name in PARAMETERS if getattr(self, name) == mode} | own)

    def types(self) -> Mapping[str, type]:
        """Return the type of each parameter that the rule names, in the order of a signer."""
        return {**_REGISTERED, **{name: _TYPES[kind] for name, (_, kind) in self.own.items()}}

    def nonce_pattern(self) -> re.Pattern[str] | None:
        """Return what matches an acceptable nonce, or None if any string is one."""
        if self.nonce_bytes is None:
            return None
        # The shortest nonce is the usual one. No whole number of bytes leaves one character over.
        least = -(-self.nonce_bytes * 4 // 3)
        return re.compile(rf"{_DIGIT}{{{least}}}|(?=.{{{least}}}){_NONCE}")


_DERIVED = "@(?:method|target-uri|authority|scheme|request-target|path|query|status)"
_COMPONENT = re.compile(rf"{token.LOWER}+|{_DERIVED}")
_PARAMETERS = r'(?:;[a-z]+(?:="[!#-\[\]-~]*")?)*'
# A query parameter is a component only with its name.
_IDENTIFIER = re.compile(rf'"(?:{token.LOWER}+|{_DERIVED})"{_PARAMETERS}|"@query-param"(?=[^"]*;name="){_PARAMETERS}')
_FIELD = re.compile(rf"{token.LOWER}+")
_MEMBER = re.compile(rf'"({token.LOWER}+)";key="([!#-\[\]-~]*)"')


class CoverageRule(NamedTuple):
    """The components that a signature must cover, and those it must not.

    A component is a name in lower case, such as `@method`, or a whole identifier, such as `"@authority";req`.

    Attributes:
        always: components that every signature covers.
        any_of: groups of components: a signature covers at least one of each group. A signer covers the first.
        with_content: further components if the message has content.
        with_query: further components if the request has a query.
        if_sent: header fields that a signature covers if the message has them.
        if_asked: header fields of the request that a response covers, by ;req, if the request has them.
        sent: header fields that the message must have.
        member_of: a dictionary field, of which a signature covers one member by `;key`: the member of its own label,
            or the only one that it covers. Empty: no such field.
        never: components that a signature must not cover, with or without parameters.
        field_types: the types of structured fields of your own, by name in lower case: `dictionary`, `list` or `item`.
            `;sf` needs the type of a field, and those of registered fields are known (RFC 9421 section 2.1.1).
    """

    always: tuple[str, ...] = ("@method", "@target-uri", "@authority")
    any_of: tuple[tuple[str, ...], ...] = ()
    with_content: tuple[str, ...] = ()
    with_query: tuple[str, ...] = ()
    if_sent: tuple[str, ...] = ()
    if_asked: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    member_of: str = ""
    never: frozenset[str] = frozenset()
    field_types: Mapping[str, FieldType] = {}

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        every = (*self.always, *self.with_content, *self.with_query, *(one for group in self.any_of for one in group))
        for option in ("always", "with_content", "with_query"):
            _check_texts(f"coverage.{option}", getattr(self, option), is_component, example='("@method", "date")')
        for option in ("if_sent", "if_asked", "sent"):
            _check_texts(f"coverage.{option}", getattr(self, option), _FIELD.fullmatch, example='("content-type",)')
        for group in self.any_of:
            _check_texts("coverage.any_of", group or ("",), is_component, example='("@authority", "@target-uri")')
        are_names = all(map(_COMPONENT.fullmatch, self.never - {"@query-param"}))
        _check("coverage.never", are_names, 'give a frozenset of names, such as frozenset({"@query-param"})')
        is_field = not self.member_of or _FIELD.fullmatch(self.member_of)
        _check("coverage.member_of", is_field, "give the name of a header field in lower case")
        required = {name_of(one) for one in (*self.required(has_content=True), *self.with_query)}
        clash = sorted(required & self.never)
        _check("coverage.never", not clash, f"{''.join(clash[:1])} is required, so it cannot be forbidden")
        types = get_args(FieldType)
        are_types = all(name == name.lower() and kind in types for name, kind in self.field_types.items())
        advice = f"give names in lower case, each with one of {', '.join(types)}"
        _check("coverage.field_types", are_types, advice)
        # Outside of its strings, an identifier has its flags between semicolons.
        serialized = [name_of(one) for one in every if "sf" in "".join(one.split('"')[2::2]).split(";")]
        untyped = [name for name in serialized if field_type(name, self.field_types) is None]
        _check("coverage.field_types", not untyped, f";sf needs the type of {''.join(untyped[:1])}: add it here")

    def required(self, *, has_content: bool) -> tuple[str, ...]:
        """Return `always`, the first of each group and, for a message with content, `with_content`, in this order."""
        first = [group[0] for group in self.any_of]
        return tuple(dict.fromkeys((*self.always, *first, *(self.with_content if has_content else ()))))

    @property
    def is_conditional(self) -> bool:
        """Whether more than names is asked for, or what is asked for depends on more than content."""
        rules = (
            self.any_of, self.with_query, self.if_sent, self.if_asked, self.sent, self.member_of, self.never
        )  # fmt: skip
        return any(rules) or any(one[0] == '"' for one in self.required(has_content=True))

    def components_of(self, request: Request | Response) -> tuple[str, ...]:
        """Return the components that a signer covers of this message, in their order."""
        asked = [*self.required(has_content=request.has_body)]
        if self.with_query and "?" in request.url:
            asked += self.with_query
        if self.if_sent:
            combined = request.fields.combined
            asked += [name for name in self.if_sent if name in combined]
        if self.if_asked:
            asked += [f'"{name}";req' for name in self._asked_fields(request)]
        return tuple(dict.fromkeys(asked))

    def _asked_fields(self, message: Request | Response) -> list[str]:
        """Return the header fields of the request that a response must cover, if it must cover any."""
        request = cast("Response", message).request
        return [] if request is None else [name for name in self.if_asked if name in request.fields.combined]

    def faults(self, coverage: Coverage, request: Request | Response, label: str) -> list[str]:
        """Return what `coverage` lacks or must not have, a sentence each.

        Args:
            coverage: what the signature covers.
            request: the message.
            label: the label of the signature.
        """
        required = (*self.always, *self.with_content) if request.has_body else self.always
        if self.with_query and "?" in request.url:
            required += self.with_query
        if self.if_sent:
            combined = request.fields.combined
            required += tuple([name for name in self.if_sent if name in combined])
        missing = [one for one in required if not coverage.covers(one)]
        faults = [f"{', '.join(dict.fromkeys(missing))} must be covered"] if missing else []
        for group in self.any_of:
            if not any(map(coverage.covers, group)):
                faults += [f"{' or '.join(group)} must be covered"]
        if self.if_asked:
            faults += [
                f'"{name}";req must be covered'
                for name in self._asked_fields(request)
                if not any(text.startswith(f'"{name}";') and ";req" in text for text in coverage.texts)
            ]
        if self.member_of and covered_member(coverage.texts, self.member_of, label) is None:
            faults.append(f"one member of {self.member_of} must be covered, by ;key")
        return faults

    def absent(self, request: Request | Response) -> list[str]:
        """Return the header fields that the message must have and does not have."""
        return [name for name in self.sent if name not in request.fields.combined]


def covered_member(identifiers: Iterable[str], field_name: str, label: str) -> str | None:
    """Return the key of the member of a dictionary field that a signature is about, or None (Web Bot Auth 5.2.1).

    It is the member of the signature's own label, if that is covered, else the only one that is covered.

    Args:
        identifiers: the identifiers of the covered components.
        field_name: the field.
        label: the label of the signature.
    """
    matches = [_MEMBER.fullmatch(text) for text in identifiers]
    keys = [match[2] for match in matches if match is not None and match[1] == field_name]
    if label in keys:
        return label
    return keys[0] if len(keys) == 1 else None


def name_of(component: str) -> str:
    """Return the name of a component that is written as a name or as an identifier."""
    return component[1:].partition('"')[0] if component[0] == '"' else component


def is_component(text: str) -> bool:
    """Return whether `text` is the name or the identifier of a component that a profile can require."""
    return (_IDENTIFIER if text[:1] == '"' else _COMPONENT).fullmatch(text) is not None


DigestPolicy = Literal["required", "forbidden", "either"]
"""Whether a signature over a message with content must, must not or may cover `content-digest`."""


class DigestRule(NamedTuple):
    """A rule for the digest of the content: whether a signature covers it, and which digests count.

    Attributes:
        policy: whether `content-digest` must, must not or may be covered if the message has content.
        encodings: how the bytes of a digest may be encoded. A signer uses the first encoding.
        algorithms: the digests that are looked at. At least one must be declared. A signer makes the first.
    """

    policy: DigestPolicy = "required"
    encodings: tuple[Encoding, ...] = ("base64",)
    algorithms: tuple[DigestAlgorithm, ...] = ("sha-256", "sha-512")

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        _check_choice("digest.policy", self.policy, DigestPolicy)
        are_encodings = self.encodings and {*get_args(Encoding)}.issuperset(self.encodings)
        _check("digest.encodings", are_encodings, 'list "base64", "base64url" or both in a tuple')
        are_known = self.algorithms and DIGEST_ALGORITHMS.issuperset(self.algorithms)
        _check("digest.algorithms", are_known, f"list some of {', '.join(sorted(DIGEST_ALGORITHMS))} in a tuple")


class KeyRule(NamedTuple):
    """A rule for what a key must declare about itself.

    Attributes:
        purposes: the accepted values of the JWK's `adcp_use`. Empty: it is not looked at.
        is_declared: whether the JWK must have `use` sig, `key_ops` with verify, and an `alg` that fits its type. If
            not, these members may be absent, but must not say otherwise.
        is_thumbprint: whether `keyid` must be the key's JWK thumbprint (RFC 7638).
    """

    purposes: frozenset[str] = frozenset()
    is_declared: bool = False
    is_thumbprint: bool = False


class Validity(NamedTuple):
    """A rule for when a signature is valid, and for how long. All values are whole seconds.

    Attributes:
        longest: the most from `created` to `expires`. None: as long as `expires` says.
        ahead: how far in the future `created` may be, since clocks differ.
        behind: how long after its end a signature is accepted, since clocks differ.
        default: how long a signature without `expires` is valid after `created`. None: `longest_age` alone ends it.
        longest_age: the most from `created` to now, whatever `expires` says. None: no such bound.
        signed_for: how long a signer's signatures are valid if nothing else is asked for.
    """

    longest: int | None = 300
    ahead: int = 60
    behind: int = 60
    default: int | None = None
    longest_age: int | None = None
    signed_for: int = 300

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        for option, seconds in zip(self._fields, self, strict=True):
            _check_seconds(f"validity.{option}", seconds, 0 if option in {"ahead", "behind"} else 1)
        is_within = self.longest is None or self.signed_for <= self.longest
        _check("validity.signed_for", is_within, "a signer cannot make signatures valid longer than longest")

    def end(self, created: int | None, expires: int | None) -> int | None:
        """Return when a signature with these parameters ends, or None if nothing ends it."""
        ends = [] if expires is None else [expires]
        if created is not None and expires is None and self.default is not None:
            ends.append(created + self.default)
        if created is not None and self.longest_age is not None:
            ends.append(created + self.longest_age)
        return min(ends, default=None)

    def window(self, created: int | None, expires: int | None, *, now: float) -> tuple[float, str]:
        """Return the time after which no clock within the skew accepts a signature, and why it is not valid at `now`.

        Args:
            created: its parameter `created`.
            expires: its parameter `expires`.
            now: seconds since the epoch.

        Returns:
            Seconds since the epoch, or infinity if nothing ends it. Then the reason, or "" if it is valid.
        """
        end = expires if expires is not None and self.longest_age is None else self.end(created, expires)
        until = math.inf if end is None else float(end + self.behind)
        if created is not None:
            if expires is not None and expires <= created:
                return until, "expires is not after created"
            if expires is not None and self.longest is not None and expires - created > self.longest:
                return until, f"the signature is valid for longer than {self.longest} seconds"
            if created > now + self.ahead:
                return until, "created lies in the future"
        return until, "the signature has expired" if until < now else ""


Remembered = Literal["nonce", "base", "field", "nothing"]
"""What is remembered of an accepted signature, together with its key.

`nonce`: the nonce, or the base if the signature has no nonce. `base`: a digest of the signature base, which is the same
however often an ECDSA key signs it. `field`: the value of a covered header field. Without the field, it is the base,
or nothing if the method is a safe one, which may be repeated (RFC 9110 section 9.2.1). `nothing`: the same signature is
accepted again until it expires.
"""


class Caps(NamedTuple):
    """A bound on the live nonces of a store. Above it the store rejects new nonces; it never forgets a live one.

    Attributes:
        per_key: the cap for one key.
        total: the cap for all keys together, or None for no such cap.
    """

    per_key: int
    total: int | None = None


class ReplayRule(NamedTuple):
    """A rule that says what is remembered of an accepted signature, and for how long.

    Attributes:
        remembers: what is remembered.
        field: the header field, if that is what is remembered.
        accepts_repeats: whether a message with the same value of the field is accepted again if it has the same method,
            target and content. The verified signature then says that it is `repeated`.
        keeps_for: the least seconds that it is remembered, or None. It is always remembered as long as the signature is
            valid.
        caps: how many nonces may be live.
    """

    remembers: Remembered = "nonce"
    field: str = ""
    accepts_repeats: bool = False
    keeps_for: int | None = None
    caps: Caps = Caps(per_key=1_000_000)

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        _check_choice("replay.remembers", self.remembers, Remembered)
        names_field = bool(_FIELD.fullmatch(self.field))
        advice = 'name a header field in lower case, if remembers is "field"'
        _check("replay.field", names_field == (self.remembers == "field"), advice)
        is_named = not self.accepts_repeats or self.field
        _check("replay.accepts_repeats", is_named, "name the field that says that a message is repeated")
        _check_seconds("replay.keeps_for", self.keeps_for, 1)


Challenge = Literal["signature", "accept-signature", "none"]
"""The header field that tells a sender why a message was rejected.

`signature`: `WWW-Authenticate: Signature error="<code>"` (AdCP). `accept-signature`: what a signature must cover (RFC
9421 section 5). `none`: no field.
"""

ASKING: Final[frozenset[Reason]] = frozenset(
    {
        "signature_required",
        "signature_params_incomplete",
        "signature_params_unexpected",
        "signature_tag_invalid",
        "signature_components_incomplete",
        "signature_components_unexpected",
    }
)
"""The reasons for which another signature by the same key may be accepted."""

_REASONS: frozenset[str] = frozenset(get_args(Reason))
_CODE = re.compile(r"[a-z_]*")
_STATUSES = range(400, 600)


class Answers(NamedTuple):
    """The code, status and header fields that the sender of a rejected message gets.

    Attributes:
        prefix: the prefix of every error code that `codes` does not name.
        codes: the code of a reason, if it is not the prefix and the reason.
        statuses: the HTTP status of a reason, if it is neither 401 (the sender must act) nor 503 (the operator must).
        member: the member of the JSON answer that has the code.
        text_member: another member, which has the code in words. Empty: there is none.
        rpc_codes: the code of a JSON-RPC error for a reason. The answer is then a JSON-RPC error (section 5.1), whose
            data are the members above. Its id is null, since the body need not have been read.
        challenge: the header field that says why.
        asks: the reasons for which Accept-Signature also says what a signature must cover (RFC 9421 section 5). Empty:
            it is sent only as a `challenge`.
        unknown: the reasons for which the sender is merely unknown: the message is treated as one without a signature.
    """

    prefix: str = ""
    codes: Mapping[Reason, str] = {}
    statuses: Mapping[Reason, int] = {}
    member: str = "error"
    text_member: str = ""
    rpc_codes: Mapping[Reason, int] = {}
    challenge: Challenge = "signature"
    asks: frozenset[Reason] = ASKING
    unknown: frozenset[Reason] = frozenset()

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        for option in ("prefix", "member", "text_member"):
            is_code = _CODE.fullmatch(getattr(self, option))
            _check(f"answers.{option}", is_code, "use lower-case letters and underscores: it is sent")
        _check_choice("answers.challenge", self.challenge, Challenge)
        for option in ("asks", "unknown", "codes", "statuses", "rpc_codes"):
            are_reasons = _REASONS.issuperset(getattr(self, option))
            _check(f"answers.{option}", are_reasons, "give reasons of undersigned.errors.Reason")
        are_codes = all(code and _CODE.fullmatch(code) for code in self.codes.values())
        _check("answers.codes", are_codes, "use lower-case letters and underscores: codes are sent")
        are_statuses = all(status in _STATUSES for status in self.statuses.values())
        _check("answers.statuses", are_statuses, "give HTTP statuses from 400 to 599")

    def code(self, reason: Reason) -> str:
        """Return the code that the sender gets for `reason`."""
        return self.codes.get(reason) or self.prefix + reason

    def form(self, error: SignatureError, wanted: Callable[[], str]) -> AnswerForm | None:
        """Return the form of the answer to a rejected message, or None for the usual form.

        Args:
            error: the error.
            wanted: returns what a signature of the profile must have, as a member of Accept-Signature.
        """
        asks = error.reason in self.asks
        is_special = self.statuses or self.text_member or self.rpc_codes
        if not (asks or is_special or self.member != "error" or self.challenge != "signature"):
            return None
        unavailable = isinstance(error, VerificationUnavailable)
        status = self.statuses.get(error.reason) if error.reason else None
        fields: list[tuple[str, str]] = []
        if self.challenge == "signature" and not unavailable:
            fields.append(("WWW-Authenticate", f'Signature error="{error.code}"'))
        if asks or (self.challenge == "accept-signature" and not unavailable):
            fields.append(("Accept-Signature", wanted()))
        texts = {self.member: error.code}
        if self.text_member:
            texts[self.text_member] = error.code.replace("_", " ")
        rpc_code = self.rpc_codes.get(error.reason) if error.reason else None
        return AnswerForm(status or (503 if unavailable else 401), tuple(texts.items()), tuple(fields), rpc_code)
