"""Which parameters a signature must, may or must not have (RFC 9421 section 2.3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from undersigned.message.structured_fields import KEY
from undersigned.signature.rules.option_checks import check, check_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

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
            check_choice(f"parameters.{name}", getattr(self, name), ParameterMode)
        for name, (mode, kind) in self.own.items():
            is_own = KEY.fullmatch(name) and name not in PARAMETERS
            check("parameters.own", is_own, "map names in lower case to a mode and a type")
            is_rule = mode in get_args(ParameterMode) and kind in _TYPES
            check("parameters.own", is_rule, f'{name}: give a mode and a type, such as ("required", "string")')
        writable = {*PARAMETERS, *(name for name, (_, kind) in self.own.items() if kind == "boolean")}
        advice = 'give a frozenset of names, such as frozenset({"created"})'
        check("parameters.written", self.written <= writable, advice)
        types = self.types()
        for option, name in (("audience", self.audience), ("echo", self.echo)):
            is_text = not name or types.get(name) is str
            check(f"parameters.{option}", is_text, "give the name of a string in parameters.own")
        clash = sorted(self.written & self.of_mode("forbidden"))
        check("parameters.written", not clash, f"{''.join(clash[:1])} is forbidden, so a signer cannot write it")
        least = self.nonce_bytes
        check("parameters.nonce_bytes", least is None or least >= 0, "give whole bytes, at least 0, or None")

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
