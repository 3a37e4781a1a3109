"""A Django site with guarded views of every kind, and applications over both interfaces."""

from __future__ import annotations

import django
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.test import override_settings
from django.urls import path
from tests.keys import BODY, ORIGINS

FIRST = "undersigned_django.middleware.SignatureMiddleware"
CSRF = "django.middleware.csrf.CsrfViewMiddleware"
_LENGTH = "django.middleware.common.CommonMiddleware"

settings.configure(
    SECRET_KEY="for tests",
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    INSTALLED_APPS=["undersigned_django"],
    MIDDLEWARE=[FIRST, CSRF],
    REST_FRAMEWORK={"UNAUTHENTICATED_USER": None},
)
django.setup()

# Django is set up before REST framework is imported.
from rest_framework.authentication import BaseAuthentication  # noqa: E402
from rest_framework.permissions import AllowAny, BasePermission, IsAuthenticated  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

from undersigned_django import find_signature, signature_required, verified_signature  # noqa: E402
from undersigned_django.rest_framework import SignatureAuthentication  # noqa: E402


def show_seen(request: HttpRequest) -> dict[str, str]:
    signature = verified_signature(request)
    assert request.body == BODY
    return {"keyid": signature.keyid, "target_uri": signature.target_uri, "path": request.path}


@signature_required
def view(request: HttpRequest, rest: str) -> JsonResponse:
    assert request.path.endswith(rest)
    return JsonResponse(show_seen(request))


class Caller(APIView):
    authentication_classes = (SignatureAuthentication,)
    permission_classes = (IsAuthenticated,)

    def post(self, request) -> Response:
        user = request.user
        return Response({"caller": getattr(user, "keyid", user), "keyid": request.auth.keyid, "sent": request.data})


class Plans(APIView):
    authentication_classes = (SignatureAuthentication,)
    permission_classes = (IsAuthenticated,)

    def post(self, request, plan: str) -> Response:
        caller, signed = getattr(request.user, "keyid", None), getattr(request.auth, "target_uri", None)
        return Response({"plan": plan, "caller": caller, "signed": signed})


allowed, authenticated = AllowAny, IsAuthenticated


class Named(BaseAuthentication):
    """Knows every caller by another credential, and has no challenge."""

    def authenticate(self, _request):
        return "somebody", None


class Nobody(BaseAuthentication):
    """Knows no caller, and has no challenge."""

    def authenticate(self, _request):
        return None


class Never(BasePermission):
    def has_permission(self, _request, _view):
        return False


def public(request: HttpRequest) -> JsonResponse:
    names = ("Transfer-Encoding", "Content-Length")
    fields = {name: request.headers[name] for name in names if name in request.headers}
    return JsonResponse({"signed": find_signature(request) is not None, "body": len(request.body), **fields})


def orders(request: HttpRequest) -> JsonResponse:
    return JsonResponse([[request.headers[name]] for name in ("X-Order", "X-Note")], safe=False)


urlpatterns = [
    path("view/<path:rest>", view),
    path("drf", Caller.as_view()),
    path("drf/<str:plan>", Plans.as_view()),
    path("public", public),
    path("~a", orders),
]


def site(verifier, *, middleware=(FIRST, CSRF), **options) -> override_settings:
    """The settings of the site, for as long as the context lasts."""
    options = {"VERIFIER": verifier, "ORIGINS": ORIGINS, "MODE": "optional", **options}
    given = {name: value for name, value in options.items() if value is not None}
    return override_settings(UNDERSIGNED=given, MIDDLEWARE=[*middleware, _LENGTH])


APPLICATIONS = {"wsgi": get_wsgi_application, "asgi": get_asgi_application}
