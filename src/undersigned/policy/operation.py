"""Operations: the name of what a request asks for, and how to find it (AdCP verifier checklist, pre-check)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeGuard

from undersigned.errors import MalformedURL, UndersignedError
from undersigned.message.strict_json import AmbiguousJSON
from undersigned.policy.content import names_webhook

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.errors import SignatureError
    from undersigned.message.request import Request
    from undersigned.message.strict_json import JSONValue
    from undersigned.signature.profile import Profile

UnresolvedReason: TypeAlias = Literal["body_malformed", "target_uri_malformed"]


@dataclass(frozen=True, slots=True)
class Operation:
    """The operation that a request asks for.

    The guard decides about the same operation that the application runs, because the content is read only once. Names
    are text from the sender. They are matched exactly, and escaped before they are logged.

    Attributes:
        name: the operation, such as `create_media_buy`, or None if the request names none.
        method: the method of the JSON-RPC envelope, such as `tools/call`, or None if there is no envelope.
        methods: the JSON-RPC methods that mean the same, if the request has a path of A2A's HTTP+JSON binding.
        content: the parsed content, or None if there is none, it is not JSON, or it has not been read. It may contain
            secrets, so it is not in the repr.
        registers_webhook: whether the whole request registers a webhook, even if its names do not say so.
        is_unknown: whether it is unknown which operation the application will run. Such a request must be signed.
    """

    name: str | None = None
    method: str | None = None
    content: JSONValue = field(default=None, repr=False, compare=False)
    registers_webhook: bool = False
    is_unknown: bool = False
    methods: frozenset[str] = frozenset()


class UnresolvedOperation(UndersignedError):
    """Raised when two readers could find different operations in a request. The sender must act.

    An unsigned request is then rejected if it contains the name of a listed operation anywhere.

    Attributes:
        reason: why it is rejected.
        methods: the JSON-RPC methods that mean the same as the path, as in `Operation`.
    """

    methods: frozenset[str] = frozenset()

    def __init__(self, message: str, *, reason: UnresolvedReason = "body_malformed") -> None:
        """Take a printable `message`: our words, and at most the message of a `MalformedURL`."""
        super().__init__(message)
        self.reason: UnresolvedReason = reason

    def as_error(self, profile: Profile) -> SignatureError:
        """Return the error to answer with, at step 0."""
        return profile.error(self.reason, step=0, detail=f"the operation cannot be resolved: {self}")


class OperationResolver(Protocol):
    """A resolver that finds the operation of a request. It does no IO and keeps no state."""

    @property
    def reads_body(self) -> bool:
        """Whether the operation is in the body, so that `resolve` needs the body."""
        ...

    @property
    def comes_first(self) -> bool:
        """Whether to resolve before reading the signature fields, so that an unresolved operation is reported first."""
        ...

    def resolve(self, request: Request) -> Operation:
        """Return the operation.

        Raises:
            UnresolvedOperation: two readers could find different operations. This is the only exception that a request
                may cause.
        """
        ...


@dataclass(frozen=True, slots=True)
class PathResolver:
    """A resolver for plain HTTP interfaces: the operation is the last segment of the path.

    The canonical path is percent-decoded, as ASGI and WSGI servers decode it for a router. Its last segment that is not
    empty is the name. A trailing slash does not change the name, because many routers ignore it. A router that reads
    the raw path finds the same name, because a name contains no slash. A path without segments has no name.

    An unsigned request is rejected if servers or routers may read its path differently and it contains the name of a
    listed operation. That is a path whose decoded form is not UTF-8, contains an unprintable character, or has a `.` or
    `..` segment.
    """

    reads_body = False
    comes_first = False

    def resolve(self, request: Request) -> Operation:
        """Return the operation that the path names.

        Raises:
            UnresolvedOperation: the path or the content can be read differently.
        """
        segments = path_segments(request)
        return Operation(segments[-1] if segments else None, registers_webhook=is_webhook(segments))


def path_segments(request: Request) -> list[str]:
    """Return the segments of the canonical path, decoded as a router sees them, without trailing slashes.

    Raises:
        UnresolvedOperation: the URL has no canonical form, or servers or routers disagree about its path.
    """
    try:
        decoded = request.decoded_path()
    except MalformedURL as malformed:
        raise _unresolved_path(f"{malformed.rule}: {malformed}") from None
    except UnicodeDecodeError:
        # A router may drop the octets that it cannot decode, and so read another path.
        raise _unresolved_path("the percent-decoded path is not UTF-8") from None
    check_path(decoded)
    return decoded.rstrip("/").split("/")[1:]


def check_path(decoded: str) -> None:
    """Check that all routers read a percent-decoded path in the same way.

    Raises:
        UnresolvedOperation: they may not.
    """
    # Servers put U+FFFD in the place of octets that are not UTF-8.
    if not decoded.isprintable() or "\N{REPLACEMENT CHARACTER}" in decoded:
        # In a router's pattern, `$` also matches before a final newline, and `.` does not match every character.
        raise _unresolved_path("the percent-decoded path holds an unprintable character")
    if not {".", ".."}.isdisjoint(decoded.split("/")):
        raise _unresolved_path("an encoded slash in the path makes a '.' or '..' segment")


def _unresolved_path(message: str) -> UnresolvedOperation:
    return UnresolvedOperation(message, reason="target_uri_malformed")


def is_webhook(segments: list[str]) -> bool:
    """Return whether a path is a webhook's path, such as `/webhooks`, `/webhooks/7` or `/pushNotificationConfigs`."""
    return any(map(names_webhook, segments[-2:]))


def content_of(request: Request) -> JSONValue:
    """Return the JSON content of a request.

    Raises:
        UnresolvedOperation: the content is not JSON, or two readers could read it differently.
    """
    try:
        return request.strict_json()
    except AmbiguousJSON as ambiguous:
        raise UnresolvedOperation(str(ambiguous)) from None
    except ValueError:
        raise UnresolvedOperation("the body is not JSON in UTF-8") from None


def spellings(*names: str) -> Mapping[str, str]:
    """Return the names of members that a resolver reads, each by its form without case."""
    return {name.casefold(): name for name in names}


def members(
    value: JSONValue, recognized: Mapping[str, str], *, of: str, is_closed: bool = False
) -> dict[str, JSONValue]:
    """Check that `value` is an object and that every reader finds the same recognized members, and return it.

    Some readers ignore the case of member names, by Unicode folding: Go's encoding/json takes a long s for an s. Other
    readers end a name at its first NUL. For them, another spelling of a name is the same member a second time.

    Args:
        value: what should be an object.
        recognized: the `spellings` of the member names that the caller reads.
        of: the name of the object in error messages.
        is_closed: whether it may have no other members.

    Raises:
        UnresolvedOperation: it is no such object, or has a name with an unprintable character.
    """
    if not isinstance(value, dict):
        raise UnresolvedOperation(f"the {of} is not an object")
    # A name without case is never shorter, so the start of a long one is enough.
    enough = max(map(len, recognized)) + 1
    if not "".join(value).isprintable() or any(recognized.get(key[:enough].casefold(), key) != key for key in value):
        raise UnresolvedOperation(f"a member of the {of} has a name that readers read differently")
    if is_closed and not value.keys() <= {*recognized.values()}:
        raise UnresolvedOperation(f"a member of the {of} is not a known one")
    return value


def is_name(value: JSONValue) -> TypeGuard[str]:
    """Return whether `value` can be a name: a text of at least one character that has only printable characters.

    Some programs drop control characters, lone surrogates and zero-width characters, and other programs keep them.
    """
    return isinstance(value, str) and value != "" and value.isprintable()
