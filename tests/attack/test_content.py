"""Content differential: what passes a policy unsigned runs and registers nothing that must be signed, whoever reads it.

The readers are the official servers of MCP and A2A, and an application that tries every lenient parser of JSON.
"""

# The annotations of tools are read while they run.
import asyncio
import contextlib
import gzip
import json
import logging
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
import orjson
import pytest
import ujson
from tests.attack import bodies, targets
from tests.drive import Message, call_asgi, scope_of, takes
from tests.keys import HOST, ORIGIN, sign_unread, signer, verifier

from undersigned import A2AResolver, JSONRPCResolver, Policy, Request, asgi

Cases = tuple[tuple[str, dict], ...]


@dataclass
class Server:
    """A server with a policy in front, and what it did.

    Attributes:
        app: the application. It notes what it does in `did`.
        policy: what must be signed.
        cases: paths and documents that must be signed. It may take some of them by another spelling only.
        harmless: those that need not.
        fields: the header fields of a request for a path. Some are chosen at random if that is given.
        varied: the paths whose spelling is varied too.
        did: what it did since somebody last asked.
        called: how often the application was called.
    """

    app: Any
    policy: Policy
    cases: Cases
    harmless: Cases = ()
    fields: Callable[[Any, str], list[tuple[str, str]]] = lambda _random, _path: []
    varied: frozenset[str] = frozenset()
    did: list[str] = field(default_factory=list)
    called: int = 0

    def __post_init__(self) -> None:
        options = {"verifier": verifier(), "origins": [ORIGIN], "policy": self.policy}
        self._guarded = asgi.SignatureMiddleware(self._called, **options)

    async def _called(self, scope, receive, send) -> None:
        self.called += 1
        with contextlib.suppress(Exception):
            await self.app(scope, receive, send)

    async def ask(self, message: Message, *, guarded: bool = True) -> list[str]:
        """Return what the server did."""
        await call_asgi(self._guarded if guarded else self._called, scope_of(message), message.body)
        did, self.did[:] = list(self.did), []
        return did

    def message(self, random, path: str, made: bodies.Message, target: str = "") -> Message:
        return Message(target or path, "POST", [*self.fields(random, path), *made[0]], made[1])


AGENT_DOCUMENTS: Cases = tuple(
    ("/adcp/sync_accounts", document)
    for document in (
        {"account": "acme", **bodies.REGISTRATION},
        {"accounts": [{"pushNotificationConfig": bodies.CONFIG}], "note": "n"},
        {"request": {"push_notification_config": bodies.CONFIG}},
    )
)


def registers(value: object, *, depth: int = 6) -> bool:
    """Return whether an application that looks for the usual names finds credentials, in strings of JSON too."""
    if depth == 0:
        return False
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except ValueError:
            return False
        return not isinstance(inner, str) and registers(inner, depth=depth - 1)
    if isinstance(value, list):
        return any(registers(item, depth=depth - 1) for item in value)
    if not isinstance(value, dict):
        return False
    for name in ("push_notification_config", "pushNotificationConfig"):
        config = value.get(name)
        if isinstance(config, str):
            try:
                config = json.loads(config)
            except ValueError:
                continue
        if isinstance(config, dict) and config.get("authentication") is not None:
            return True
    return any(registers(member, depth=depth - 1) for member in value.values())


def decoded(fields: dict[str, str], content: bytes) -> Iterator[bytes]:
    """Yield the content, and JSON after the codings that the fields name."""
    yield content
    coding = fields.get("content-encoding", "").lower()
    with contextlib.suppress(OSError, EOFError, zlib.error):
        if "json" not in fields.get("content-type", "").lower():
            return
        if "gzip" in coding:
            yield gzip.decompress(content)
        elif coding == "deflate":
            yield zlib.decompress(content)


def texts(fields: dict[str, str], content: bytes) -> Iterator[str]:
    """Yield the text that each way of decoding finds."""
    charset = re.search(r"charset=\"?([\w-]+)", fields.get("content-type", ""))
    named = charset[1] if charset else "utf-8"
    for encoding in dict.fromkeys((named, "utf-8", "utf-8-sig", "latin-1", "cp1252", json.detect_encoding(content))):
        for errors in ("strict", "ignore", "replace"):
            with contextlib.suppress(ValueError, LookupError):
                text = content.decode(encoding, errors)
                yield text
                yield text.replace("\0", "")


PARSERS: tuple[Callable[[str], object], ...] = (
    ujson.loads, orjson.loads, msgspec.json.decode, partial(json.loads, strict=False),
    lambda text: json.JSONDecoder(strict=False).raw_decode(text.lstrip())[0],
)  # fmt: skip
"""Those of Litestar (msgspec) and Sanic (ujson) are among them."""


def values(text: str) -> Iterator[object]:
    """Yield the values that the parsers find."""
    for parse in PARSERS:
        with contextlib.suppress(ValueError, RecursionError, msgspec.MsgspecError):
            yield parse(text)


@contextlib.asynccontextmanager
async def lenient():
    """Run an application that reads content as anybody might."""

    async def app(scope, receive, send) -> None:
        fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        content = (await receive())["body"]
        found = (values(text) for octets in decoded(fields, content) for text in texts(fields, octets))
        server.did += ["registered"] * any(registers(value) for each in found for value in each)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    server = Server(app, Policy(), AGENT_DOCUMENTS)
    yield server


def call(name: str, arguments: dict) -> dict:
    return envelope("tools/call", {"name": name, "arguments": arguments})


def envelope(method: str, params: dict) -> dict:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


MCP_CASES: Cases = (
    ("/mcp", call("create_media_buy", {"plan_id": "plan_001"})),
    ("/mcp", call("update_preferences", bodies.REGISTRATION)),
    ("/mcp", call("update_typed", bodies.REGISTRATION)),
    ("/mcp", call("update_nested", {"request": bodies.REGISTRATION})),
)
MCP_HARMLESS: Cases = (
    ("/mcp", call("get_products", {"brief": "spring"})),
    ("/mcp", call("update_preferences", {"push_notification_config": {"url": bodies.CONFIG["url"]}, "note": "n"})),
    ("/mcp", envelope("tools/list", {})),
)


def mcp_fields(random, _path: str) -> list[tuple[str, str]]:
    version = random.choice(("", "2025-06-18", "2026-07-28")) if random else ""
    accept = ("Accept", "application/json, text/event-stream")
    return [accept, *([("MCP-Protocol-Version", version)] if version else [])]


@contextlib.asynccontextmanager
async def mcp():
    """Run a server of the official SDK of MCP."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.transport_security import TransportSecuritySettings
    from pydantic import BaseModel, Field

    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    sdk, did = MCPServer("seller", log_level="CRITICAL"), []

    class Config(BaseModel):
        url: str = ""
        authentication: dict | None = None

    class Preferences(BaseModel):
        push_notification_config: Config | None = Field(None, alias="push_notification_config")

    def registered(config) -> str:
        did.extend(["registered"] * (config is not None))
        return "ok"

    @sdk.tool()
    def create_media_buy(plan_id: str = "") -> str:
        did.append("bought")
        return plan_id

    @sdk.tool()
    def update_preferences(push_notification_config: dict | list | None = None, note: str = "") -> str:
        found = json.dumps(push_notification_config)
        return registered(note if '"authentication": {' in found else None)

    @sdk.tool()
    def update_typed(push_notification_config: Config | None = None) -> str:
        return registered(push_notification_config and push_notification_config.authentication)

    @sdk.tool()
    def update_nested(request: Preferences) -> str:
        config = request.push_notification_config
        return registered(config and config.authentication)

    settings = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = sdk.streamable_http_app(json_response=True, stateless_http=True, transport_security=settings)
    policy = Policy(required_for=["create_media_buy"], resolver=JSONRPCResolver())
    async with app.router.lifespan_context(app):
        yield Server(app, policy, MCP_CASES, MCP_HARMLESS, mcp_fields, did=did)


BUY = {"skill": "create_media_buy", "input": {"plan_id": "plan_001"}}
READ = {"skill": "get_products", "input": {"brief": "spring"}}
OLD_CONFIG = {"url": "https://buyer.example.com/hook", "authentication": {"schemes": ["Bearer"], "credentials": "c"}}
NEW_CONFIG = {"url": "https://buyer.example.com/hook", "authentication": {"scheme": "Bearer", "credentials": "c"}}


def new_message(data: dict, **configuration: object) -> dict:
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"data": data}]}
    return {"message": message, **({"configuration": configuration} if configuration else {})}


def old_message(data: dict, **configuration: object) -> dict:
    message = {"messageId": "m", "role": "user", "kind": "message", "parts": [{"kind": "data", "data": data}]}
    return {"message": message, **({"configuration": configuration} if configuration else {})}


def wrapped(data: dict) -> dict:
    """Return a message of 0.3 whose data the SDK unwraps."""
    part = {"kind": "data", "data": {"value": data}, "metadata": {"data_part_compat": True}}
    return {"message": {"messageId": "m", "role": "user", "kind": "message", "parts": [part]}}


def old_rest(data: dict) -> dict:
    return {"request": {"messageId": "m", "role": "ROLE_USER", "content": [{"data": {"data": data}}]}}


A2A_CASES: Cases = (
    ("/", envelope("SendMessage", new_message(BUY))),
    ("/", envelope("SendStreamingMessage", new_message(BUY))),
    ("/", envelope("SendMessage", new_message(READ, taskPushNotificationConfig=NEW_CONFIG))),
    ("/", envelope("CreateTaskPushNotificationConfig", {"taskId": "t1", **NEW_CONFIG})),
    ("/old", envelope("message/send", old_message(BUY))),
    ("/old", envelope("message/send", wrapped(BUY))),
    ("/old", envelope("message/send", old_message(READ, pushNotificationConfig=OLD_CONFIG))),
    ("/old", envelope("tasks/pushNotificationConfig/set", {"taskId": "t1", "pushNotificationConfig": OLD_CONFIG})),
    ("/message:send", new_message(BUY)),
    ("/message:send", new_message(READ, taskPushNotificationConfig=NEW_CONFIG)),
    ("/acme/message:send", new_message(BUY)),
    ("/tasks/t1/pushNotificationConfigs", {"taskId": "t1", **NEW_CONFIG}),
    ("/v1/message:send", old_message(BUY)),
    ("/v1/message:send", old_rest(BUY)),
    ("/v1/tasks/t1/pushNotificationConfigs", {"config": OLD_CONFIG}),
    ("/v1/tasks/t1/pushNotificationConfigs", {"parent": "tasks/t1", "config": {"pushNotificationConfig": OLD_CONFIG}}),
)
"""In every binding of both versions."""
A2A_HARMLESS: Cases = (
    ("/", envelope("SendMessage", new_message(READ))),
    ("/old", envelope("message/send", old_message(READ))),
    ("/old", envelope("message/send", wrapped(READ))),
    ("/message:send", new_message(READ)),
    ("/v1/message:send", old_message(READ)),
    ("/v1/message:send", old_rest(READ)),
    ("/tasks/t1/pushNotificationConfigs", {"taskId": "t1", "url": "https://buyer.example.com/hook"}),
)


def a2a_fields(_random, path: str) -> list[tuple[str, str]]:
    return [("A2A-Version", "0.3" if path.startswith(("/old", "/v1")) else "1.0")]


@contextlib.asynccontextmanager
async def a2a():
    """Run a server of the official SDK of A2A with every binding, and with a task to register a webhook for."""
    from a2a.server.agent_execution import AgentExecutor
    from a2a.server.context import ServerCallContext
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
    from a2a.server.routes.rest_routes import create_rest_routes
    from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore
    from a2a.types import a2a_pb2
    from google.protobuf.json_format import MessageToDict
    from starlette.applications import Starlette

    for name in ("a2a", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    did: list[str] = []

    def has_skill(data) -> bool:
        return isinstance(data, dict) and data.get("skill") == "create_media_buy"

    class Agent(AgentExecutor):
        async def execute(self, context, event_queue):
            # As an agent that looks for its skill wherever one of its parts has it.
            for part in context.message.parts:
                found = MessageToDict(part).get("data") or {}
                inner = found.get("data") if isinstance(found, dict) else None
                did.extend(["bought"] * any(has_skill(data) for data in (found, inner)))
            await event_queue.enqueue_event(
                a2a_pb2.Message(message_id="a", role=a2a_pb2.ROLE_AGENT, parts=[a2a_pb2.Part(text="done")])
            )

        async def cancel(self, context, event_queue):
            del context, event_queue

    class Store(InMemoryPushNotificationConfigStore):
        async def set_info(self, task_id, notification_config, context):
            did.extend(["registered"] * notification_config.HasField("authentication"))
            return await super().set_info(task_id, notification_config, context)

    async def any_url(_url: str) -> bool:
        return True

    capabilities = a2a_pb2.AgentCapabilities(streaming=True, push_notifications=True)
    card, tasks = a2a_pb2.AgentCard(name="seller", version="1", capabilities=capabilities), InMemoryTaskStore()
    handler = DefaultRequestHandler(Agent(), tasks, card, push_config_store=Store(), push_url_validator=any_url)
    routes = [
        *create_jsonrpc_routes(handler, "/"),
        *create_jsonrpc_routes(handler, "/old", enable_v0_3_compat=True),
        *create_rest_routes(handler, enable_v0_3_compat=True),
    ]
    status = a2a_pb2.TaskStatus(state=a2a_pb2.TASK_STATE_WORKING)
    await tasks.save(a2a_pb2.Task(id="t1", context_id="c1", status=status), ServerCallContext())
    policy = Policy(required_for=["create_media_buy"], resolver=A2AResolver())
    varied = frozenset(path for path, _ in A2A_CASES) - {"/", "/old"}
    yield Server(Starlette(routes=routes), policy, A2A_CASES, A2A_HARMLESS, a2a_fields, varied, did)


def signed(message: Message) -> Message:
    request = Request("POST", f"{ORIGIN}{message.target}", [("Host", HOST), *message.fields], message.body)
    return Message(message.target, "POST", [*message.fields, *sign_unread(signer(), request)], message.body)


@pytest.mark.parametrize(("run", "least"), [(lenient, 3), (mcp, 4), (a2a, 12)], ids=["parsers", "MCP", "A2A"])
def test_nothing_unsigned_is_run_or_registered_that_must_be_signed(search, run, least):
    async def searching() -> None:
        async with run() as server:
            made = partial(server.message, None)
            plain = {one: made(path, bodies.plain(document)) for one, (path, document) in enumerate(server.cases)}
            effective = [server.cases[one] for one, sent in plain.items() if await server.ask(sent, guarded=False)]
            assert len(effective) >= least, effective
            assert {path for path, _ in effective} >= {path for path, _ in server.harmless}, effective
            for path, document in effective:
                message = made(path, bodies.plain(document))
                assert await server.ask(message) == [], message
            for path, document in effective[:4]:
                assert await server.ask(signed(made(path, bodies.plain(document)))), document

            def first() -> Iterator[Message]:
                for path, document in effective:
                    yield from (made(path, one) for one in bodies.first(document))
                    for target in targets.first(path) if path in server.varied else ():
                        yield made(path, bodies.plain(document), target)

            def mutated(random) -> Message:
                path, document = random.choice(effective)
                content = bodies.plain(document) if server.varied and random.random() < 0.3 else None
                if server.harmless and random.random() < 0.5:
                    path, harmless = random.choice(server.harmless)
                    content = bodies.graft(random, harmless, random.choice(server.cases)[1])
                target = targets.mutate(random, path) if server.varied and random.random() < 0.3 else path
                if server.varied and random.random() < 0.1:
                    target = random.choice(server.cases)[0]
                return server.message(random, path, content or bodies.mutate(random, document), target)

            for message in search.of(first(), mutated):
                before = server.called
                if takes(message) and (did := await server.ask(message)):
                    search.find(f"{did} {message.target[:12]}", f"{message.target} {message.fields} {message.body!r}")
                search.reach(server.called > before)

    asyncio.run(searching())
    search.finish(reached=10)
