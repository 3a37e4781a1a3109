"""A Django service that knows who calls it, in one file.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/django_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/<plan>` needs a signature; `GET /` does not.
"""

import argparse
import json
from pathlib import Path

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path
from waitress import serve

from undersigned_django import signature_required, verified_signature


def welcome(_request: HttpRequest) -> JsonResponse:
    return JsonResponse({"service": "plans"})


@signature_required
def buy(request: HttpRequest, plan: str) -> JsonResponse:
    signature = verified_signature(request)
    return JsonResponse({"plan": plan, "caller": signature.keyid, "signed": signature.target_uri})


urlpatterns = [path("", welcome), path("plans/<str:plan>", buy)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    settings.configure(
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["127.0.0.1"],
        INSTALLED_APPS=["undersigned_django"],
        MIDDLEWARE=[
            "undersigned_django.middleware.SignatureMiddleware",
            "django.middleware.common.CommonMiddleware",
        ],
        UNDERSIGNED={
            "JWKS": json.loads(options.jwks.read_text()),
            "PROFILE": "adcp-3.2",
            # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
            "ORIGINS": [f"http://127.0.0.1:{options.port}"],
            "MODE": "optional",
        },
    )
    django.setup()
    serve(get_wsgi_application(), host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
