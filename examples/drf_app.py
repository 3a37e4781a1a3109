"""A Django REST framework service that knows who calls it.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/drf_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

# ruff: noqa: E402 - REST framework is imported after Django was set up

import argparse
import json
from pathlib import Path

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
        return Response({"plan": plan, "caller": request.user.keyid, "signed": request.auth.target_uri})


urlpatterns = [path("", Welcome.as_view()), path("plans/<str:plan>", Plans.as_view())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    settings.UNDERSIGNED = {
        "JWKS": json.loads(options.jwks.read_text()),
        "PROFILE": "adcp-3.2",
        # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
        "ORIGINS": [f"http://127.0.0.1:{options.port}"],
        "MODE": "optional",
    }
    serve(get_wsgi_application(), host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
