"""A Django REST framework service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/drf_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

# ruff: noqa: E402 - REST framework is imported after Django was set up

import django
from django.conf import settings

settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1"],
    INSTALLED_APPS=["rest_framework", "undersigned_django"],
    MIDDLEWARE=["undersigned_django.middleware.SignatureMiddleware", "django.middleware.common.CommonMiddleware"],
    REST_FRAMEWORK={"UNAUTHENTICATED_USER": None, "DEFAULT_AUTHENTICATION_CLASSES": []},
)
django.setup()

from django.core.wsgi import get_wsgi_application
from django.urls import path
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from waitress import serve

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_django.rest_framework import SignatureAuthentication


class Welcome(APIView):
    """The page for everybody."""

    def get(self, _request: Request) -> Response:
        return Response({"service": "plans"})


class Plans(APIView):
    """The plans, for signed requests only."""

    authentication_classes = (SignatureAuthentication,)
    permission_classes = (IsAuthenticated,)

    def post(self, request: Request, plan: str) -> Response:
        return Response({"plan": plan, "caller": request.user.signer, "signed": request.auth.target_uri})


urlpatterns = [path("", Welcome.as_view()), path("plans/<str:plan>", Plans.as_view())]


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    settings.UNDERSIGNED = {
        "VERIFIER": verifier,
        # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
        "ORIGINS": ["http://127.0.0.1:8000"],
        "MODE": "optional",
    }
    serve(get_wsgi_application(), host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
