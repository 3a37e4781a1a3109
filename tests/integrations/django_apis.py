"""Views of Django REST framework and of django-ninja."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import path
from tests.integrations import django_site  # noqa: F401 - it sets Django up before the others are imported

# isort: split
from ninja import NinjaAPI
from rest_framework.decorators import action, api_view, authentication_classes
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ViewSet

if TYPE_CHECKING:
    from django.urls import URLPattern, URLResolver

CALLED: list[str] = []


@api_view(["POST"])
@authentication_classes([])
def order(_request) -> Response:
    return Response(CALLED.append("order"))


class Orders(ViewSet):
    authentication_classes = ()

    def create(self, _request) -> Response:
        return Response(CALLED.append("orders"))

    @action(detail=False, methods=["post"], url_path="look")
    def look(self, _request) -> Response:
        return Response(CALLED.append("look"))


def ninja_api(name: str) -> NinjaAPI:
    api = NinjaAPI(urls_namespace=name)

    @api.post("/plans", url_name="plans")
    def buy(request) -> None:  # noqa: ARG001 - the name that django-ninja asks for
        CALLED.append("buy")

    @api.post("/free", url_name="free")
    def free(request) -> None:  # noqa: ARG001
        CALLED.append("free")

    return api


def routes() -> list[URLPattern | URLResolver]:
    """The routes of all views, with a new API of django-ninja."""
    router = SimpleRouter(trailing_slash=False)
    router.register("orders", Orders, basename="order")
    return [path("order", order), path("api/", ninja_api("api").urls), *router.urls]
