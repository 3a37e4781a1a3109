"""The resolver for policies by route: its operations are the views of Django."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.utils.module_loading import import_string

from undersigned.policy import RouteResolver as _RouteResolver

from .dispatch import RouteMiddleware

if TYPE_CHECKING:
    from collections.abc import Sequence


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the view that Django is about to run.

    `operations` lists views by the function or the view class, by the name of the URL, or by both with a namespace,
    such as `plans:create`.

    The middleware of this package asks the policy about the view, whichever way Django has found it. If
    `undersigned.asgi` or `undersigned.wsgi` verifies instead, `undersigned_django.middleware.RouteMiddleware` asks: add
    it as the last of MIDDLEWARE. Without it, every request must be signed. Answers without a view, such as the answers
    of `handler404` or of a middleware, need no signature.

    Args:
        operations: as in `undersigned.policy.RouteResolver`.
    """

    __slots__ = ()

    def has_hook(self) -> bool:
        """Return whether a middleware asks the policy; as `undersigned.policy.RouteResolver.has_hook`."""
        listed = map(import_string, cast("Sequence[str]", settings.MIDDLEWARE))
        return any(isinstance(one, type) and issubclass(one, RouteMiddleware) for one in listed)
