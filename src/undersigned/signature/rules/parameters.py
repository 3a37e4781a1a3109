"""Parameters: which signature parameters a profile asks for (RFC 9421 section 2.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from undersigned.errors import ConfigurationError
from undersigned.message.structured_fields import KEY
from undersigned.signature.rules.option import check_choice

if TYPE_CHECKING:
    from undersigned.message.structured_fields import Parameter

ParameterMode = Literal["required", "optional", "forbidden", "ignored"]
"""Whether a signature must, may or must not have a parameter, or may have it with any value of its type."""

ParameterType = Literal["string", "integer", "boolean"]
"""The type of a parameter: a String, an Integer or a Boolean (RFC 9651 section 3.3)."""

PARAMETERS: Final = ("created", "expires", "nonce", "keyid", "alg", "tag")
"""The registered signature parameters, in the order that a signer writes them (RFC 9421 section 2.3)."""

_MODES: frozenset[str] = frozenset(get_args(ParameterMode))
_TYPES: Final[Mapping[str, type]] = MappingProxyType({"string": str, "integer": int, "boolean": bool})
_REGISTERED: Final[Mapping[str, type]] = MappingProxyType(
    {name: int if name in {"created", "expires"} else str for name in PARAMETERS}
)
_SPELLING: Final = MappingProxyType({str: "a string", int: "an integer", bool: "a boolean"})
_DIGIT = "[A-Za-z0-9_-]"
_NONCE = f"(?>(?:{_DIGIT}{{4}})*)(?:{_DIGIT}{{2,3}})?"


def _no_parameters() -> Mapping[str, tuple[ParameterMode, ParameterType]]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRule:
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
        nonce_pattern: matches an acceptable nonce; None if any string is one.

    Raises:
        ConfigurationError: an attribute has a wrong value.
    """

    created: ParameterMode = "required"
    expires: ParameterMode = "required"
    nonce: ParameterMode = "required"
    keyid: ParameterMode = "required"
    alg: ParameterMode = "required"
    tag: ParameterMode = "required"
    own: Mapping[str, tuple[ParameterMode, ParameterType]] = field(default_factory=_no_parameters)
    nonce_bytes: int | None = None
    written: frozenset[str] = frozenset()
    audience: str = ""
    echo: str = ""
    echo_if: str = ""
    nonce_pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    required: frozenset[str] = field(init=False, repr=False, compare=False)
    forbidden: frozenset[str] = field(init=False, repr=False, compare=False)
    ignored: frozenset[str] = field(init=False, repr=False, compare=False)
    types: Mapping[str, type] = field(init=False, repr=False, compare=False)
    asks_more: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        modes: dict[str, ParameterMode] = {name: getattr(self, name) for name in PARAMETERS}
        for name, mode in modes.items():
            check_choice(f"parameters.{name}", mode, _MODES)
        types = dict(_REGISTERED)
        for name, (mode, kind) in _own(self.own).items():
            modes[name] = mode
            types[name] = _TYPES[kind]
        flags = {name for name, kind in types.items() if kind is bool}
        if not isinstance(self.written, frozenset) or not self.written <= {*PARAMETERS, *flags}:
            raise ConfigurationError('parameters.written: give a frozenset of names, such as frozenset({"created"})')
        for option in ("audience", "echo"):
            if getattr(self, option) and types.get(getattr(self, option)) is not str:
                raise ConfigurationError(f"parameters.{option}: give the name of a string in parameters.own")
        clash = sorted(name for name in self.written if modes[name] == "forbidden")
        if clash:
            raise ConfigurationError(f"parameters.written: {clash[0]} is forbidden, so a signer cannot write it")
        assign = object.__setattr__
        assign(self, "nonce_pattern", _nonce_pattern(self.nonce_bytes))
        for group in ("required", "forbidden", "ignored"):
            assign(self, group, frozenset(name for name, mode in modes.items() if mode == group))
        assign(self, "asks_more", bool(self.forbidden or self.own))
        assign(self, "types", MappingProxyType(types))
        assign(self, "own", MappingProxyType(dict(self.own)))

    @property
    def signed(self) -> tuple[str, ...]:
        """The registered parameters that a signer writes, in their order."""
        return tuple(name for name in PARAMETERS if name in self.required or name in self.written)

    @property
    def flags(self) -> tuple[str, ...]:
        """The own booleans that a signer writes."""
        return tuple(name for name in self.own if name in self.written)

    def missing(self, parameters: Mapping[str, Parameter]) -> list[str]:
        """Return the required parameters that are absent, in their order."""
        return [name for name in (*PARAMETERS, *self.own) if name in self.required and name not in parameters]

    def fault_of_types(self, parameters: Mapping[str, Parameter]) -> str:
        """Return what is wrong with the type of a parameter or with the nonce, or ""."""
        types = self.types
        for name, value in parameters.items():
            if name in types and type(value) is not types[name]:
                return f"the {name} parameter is not {_SPELLING[types[name]]}"
        return ""


def _own(own: object) -> Mapping[str, tuple[ParameterMode, ParameterType]]:
    """Check the profile's own parameters, and return them."""
    given = cast("Mapping[object, object]", own) if isinstance(own, Mapping) else {None: None}
    for name, rule in given.items():
        if not isinstance(name, str) or KEY.fullmatch(name) is None or name in PARAMETERS:
            raise ConfigurationError("parameters.own: map names in lower case to a mode and a type")
        pair = cast("tuple[object, ...]", rule) if isinstance(rule, tuple) else ()
        if len(pair) != 2 or pair[0] not in _MODES or pair[1] not in _TYPES:  # noqa: PLR2004 - a pair
            raise ConfigurationError(f'parameters.own: {name}: give a mode and a type, such as ("required", "string")')
    return cast("Mapping[str, tuple[ParameterMode, ParameterType]]", own)


def _nonce_pattern(least_bytes: object) -> re.Pattern[str] | None:
    if least_bytes is None:
        return None
    if type(least_bytes) is not int or least_bytes < 0:
        raise ConfigurationError("parameters.nonce_bytes: give whole bytes, at least 0, or None")
    # The shortest nonce is the usual one. No whole number of bytes leaves one character over.
    least = -(-least_bytes * 4 // 3)
    return re.compile(rf"{_DIGIT}{{{least}}}|(?=.{{{least}}}){_NONCE}")
