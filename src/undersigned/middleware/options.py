"""The options that both middlewares take, checked when a middleware is made."""

from __future__ import annotations

from inspect import iscoroutinefunction, signature
from typing import TYPE_CHECKING, Literal, get_args

from undersigned.errors import ConfigurationError
from undersigned.middleware.authority import HTTP2_SERVERS
from undersigned.policy.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable

Mode = Literal["required", "optional", "observe"]
"""What happens to an unsigned request: reject, accept, or accept and log. An invalid signature is always rejected.

A profile may say that an unknown signer counts as unsigned (`Answers.unknown`)."""

MODES: frozenset[str] = frozenset(get_args(Mode))


def check_options(mode: object, max_body: object, http2_server: object) -> None:
    """Check the options that both middlewares take.

    Raises:
        ConfigurationError: an option has a wrong value.
    """
    if not isinstance(mode, str) or mode not in MODES:
        raise ConfigurationError(
            'mode: use "required", "optional" or "observe"; if some requests must be signed, use "optional" and guard '
            "their routes, or give a policy"
        )
    check_size("max_body", max_body)
    if http2_server is not None and not (isinstance(http2_server, str) and http2_server in HTTP2_SERVERS):
        raise ConfigurationError(
            f"http2_server: expected one of {', '.join(sorted(HTTP2_SERVERS))}, which compare :authority with Host: "
            "serve HTTP/1.1 with any other server"
        )


def check_app(app: object, kind: Literal["ASGI", "WSGI"]) -> None:
    """Check the application that a middleware is put around.

    Args:
        app: the application.
        kind: what it must be. An ASGI application takes three arguments, a WSGI application two.

    Raises:
        ConfigurationError: it cannot be called so.
    """
    arguments = 3 if kind == "ASGI" else 2
    if callable(app) and _takes(app, arguments) and not (kind == "WSGI" and is_async(app)):
        return
    other = "undersigned.wsgi" if kind == "ASGI" else "undersigned.asgi"
    raise ConfigurationError(
        f"app: pass the {kind} application to protect, not an object of type {type(app).__name__}; "
        f"{other}.SignatureMiddleware is for {'WSGI' if kind == 'ASGI' else 'ASGI'}"
    )


def _takes(app: Callable[..., object], arguments: int) -> bool:
    try:
        signature(app).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:
        # What is written in C may not tell.
        return True
    return True


def is_async(function: object) -> bool:
    """Return whether a function or a callable object returns a coroutine."""
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004


def check_flag(option: str, flag: object) -> None:
    """Check an option that is true or false.

    Raises:
        ConfigurationError: it is neither; a text such as "false" would count as true.
    """
    if not isinstance(flag, bool):
        raise ConfigurationError(f"{option}: give True or False")


def check_size(option: str, size: object) -> None:
    """Check an option that is a number of bytes.

    Raises:
        ConfigurationError: it is not.
    """
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise ConfigurationError(f"{option}: give a number of bytes, such as 65536")


def check_policy(policy: object, *, fallback: object, mode: object) -> None:
    """Check the policy and the fallback.

    Raises:
        ConfigurationError: an option has a wrong value or contradicts another.
    """
    if policy is not None and not isinstance(policy, Policy):
        raise ConfigurationError("policy: pass a Policy, such as Policy(required_for=['create_media_buy'])")
    if policy is not None and mode != "required":
        raise ConfigurationError("mode: the policy decides what must be signed: leave mode out")
    if fallback is not None and (policy is None or not callable(fallback)):
        raise ConfigurationError(
            "fallback: pass a function that tells whether the caller is known, together with policy="
        )


def check_listeners(on_decision: object, rejection: object) -> None:
    """Check the functions that get decisions and shape answers.

    Raises:
        ConfigurationError: one of them cannot be called, or would have to be awaited.
    """
    for option, function, takes in (
        ("on_decision", on_decision, "takes a Decision"),
        ("rejection", rejection, "takes an ErrorResponse and the request, and returns an ErrorResponse"),
    ):
        if function is not None and not callable(function):
            raise ConfigurationError(f"{option}: pass a function that {takes}")
        if is_async(function):
            raise ConfigurationError(f"{option}: the function must not be async; nothing awaits it")
