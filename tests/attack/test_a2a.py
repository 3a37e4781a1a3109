"""SDK differential, A2A: the official server runs and registers nothing unsigned that has to be signed."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from tests.attack import bodies, targets
from tests.drive import Message, call_asgi, scope_of, takes
from tests.keys import HOST, ORIGIN, sign_unread, signer, verifier

from undersigned import A2AResolver, Policy, Request, asgi

BUY = {"skill": "create_media_buy", "input": {"plan_id": "plan_001"}}
READ = {"skill": "get_products", "input": {"brief": "spring"}}
OLD_CONFIG = {"url": "https://buyer.example.com/hook", "authentication": {"schemes": ["Bearer"], "credentials": "c"}}
NEW_CONFIG = {"url": "https://buyer.example.com/hook", "authentication": {"scheme": "Bearer", "credentials": "c"}}

JSON_RPC = ("/", "/old")


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


def old_rest(data: dict, **configuration: object) -> dict:
    message = {"messageId": "m", "role": "ROLE_USER", "content": [{"data": {"data": data}}]}
    return {"request": message, **({"configuration": configuration} if configuration else {})}


def envelope(method: str, params: dict) -> dict:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


CASES: tuple[tuple[str, dict], ...] = (
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
"""Requests that must be signed, in every binding of both versions. The SDK takes some of them by one spelling only."""

HARMLESS: tuple[tuple[str, dict], ...] = (
    ("/", envelope("SendMessage", new_message(READ))),
    ("/old", envelope("message/send", old_message(READ))),
    ("/old", envelope("message/send", wrapped(READ))),
    ("/message:send", new_message(READ)),
    ("/v1/message:send", old_message(READ)),
    ("/v1/message:send", old_rest(READ)),
    ("/tasks/t1/pushNotificationConfigs", {"taskId": "t1", "url": "https://buyer.example.com/hook"}),
)


class Server:
    """An A2A server of the official SDK with every binding, a policy in front, and what it did."""

    def __init__(self) -> None:
        from a2a.server.agent_execution import AgentExecutor
        from a2a.server.request_handlers import DefaultRequestHandler
        from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
        from a2a.server.routes.rest_routes import create_rest_routes
        from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore
        from a2a.types import a2a_pb2
        from google.protobuf.json_format import MessageToDict
        from starlette.applications import Starlette

        for name in ("a2a", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self.did: list[str] = []
        did = self.did

        class Agent(AgentExecutor):
            async def execute(self, context, event_queue):
                # As an agent that looks for its skill wherever one of its parts has it.
                for part in context.message.parts:
                    found = MessageToDict(part).get("data") or {}
                    for data in (found, found.get("data") if isinstance(found, dict) else None):
                        if isinstance(data, dict) and data.get("skill") == "create_media_buy":
                            did.append("bought")
                await event_queue.enqueue_event(
                    a2a_pb2.Message(message_id="a", role=a2a_pb2.ROLE_AGENT, parts=[a2a_pb2.Part(text="done")])
                )

            async def cancel(self, context, event_queue):
                del context, event_queue

        class Store(InMemoryPushNotificationConfigStore):
            async def set_info(self, task_id, notification_config, context):
                if notification_config.HasField("authentication"):
                    did.append("registered")
                return await super().set_info(task_id, notification_config, context)

        capabilities = a2a_pb2.AgentCapabilities(streaming=True, push_notifications=True)
        card = a2a_pb2.AgentCard(name="seller", version="1", capabilities=capabilities)
        self._tasks, self._pb2 = InMemoryTaskStore(), a2a_pb2

        async def any_url(_url: str) -> bool:
            return True

        handler = DefaultRequestHandler(
            Agent(), self._tasks, card, push_config_store=Store(), push_url_validator=any_url
        )
        routes = [
            *create_jsonrpc_routes(handler, "/"),
            *create_jsonrpc_routes(handler, "/old", enable_v0_3_compat=True),
            *create_rest_routes(handler, enable_v0_3_compat=True),
        ]
        self.app = Starlette(routes=routes)
        self.called = 0
        policy = Policy(required_for=["create_media_buy"], resolver=A2AResolver())
        self.guarded = asgi.SignatureMiddleware(self._called, verifier=verifier(), origins=[ORIGIN], policy=policy)

    async def started(self) -> None:
        """Give the server a task to register a webhook for."""
        from a2a.server.context import ServerCallContext

        status = self._pb2.TaskStatus(state=self._pb2.TASK_STATE_WORKING)
        await self._tasks.save(self._pb2.Task(id="t1", context_id="c1", status=status), ServerCallContext())

    async def _called(self, scope, receive, send) -> None:
        self.called += 1
        with contextlib.suppress(Exception):
            await self.app(scope, receive, send)

    async def ask(self, message: Message, *, guarded: bool = True) -> list[str]:
        """Return what the server did."""
        await call_asgi(self.guarded if guarded else self._called, scope_of(message), message.body)
        did, self.did[:] = list(self.did), []
        return did


def version_of(path: str) -> list[tuple[str, str]]:
    return [("A2A-Version", "0.3" if path.startswith(("/old", "/v1")) else "1.0")]


def message_of(path: str, made: bodies.Message) -> Message:
    fields, content = made
    return Message(path, "POST", [*version_of(path), *fields], content)


def test_the_a2a_server_does_nothing_unsigned_that_must_be_signed(search):
    async def run() -> None:
        server = Server()
        await server.started()
        effective = [
            case for case in CASES if await server.ask(message_of(case[0], bodies.plain(case[1])), guarded=False)
        ]
        kinds = {path.rpartition("/")[2] for path, _ in effective}
        assert kinds >= {"", "old", "message:send", "pushNotificationConfigs"}, kinds
        assert len(effective) >= 12, effective
        for path, document in effective:
            assert await server.ask(message_of(path, bodies.plain(document))) == [], (path, document)
        plain = message_of(CASES[0][0], bodies.plain(CASES[0][1]))
        request = Request("POST", f"{ORIGIN}{plain.target}", [("Host", HOST), *plain.fields], plain.body)
        added = sign_unread(signer(), request)
        assert await server.ask(Message(plain.target, "POST", [*plain.fields, *added], plain.body)) == ["bought"]

        def first():
            for path, document in effective:
                yield from (message_of(path, made) for made in bodies.first(document))
                if path not in JSON_RPC:
                    plain = bodies.plain(document)
                    yield from (
                        Message(target, "POST", [*version_of(path), *plain[0]], plain[1])
                        for target in targets.first(path)
                    )

        def mutated(random) -> Message:
            path, document = random.choice(effective)
            made = bodies.plain(document) if random.random() < 0.3 else bodies.mutate(random, document)
            if random.random() < 0.5:
                path, harmless = random.choice(HARMLESS)
                made = bodies.graft(random, harmless, random.choice(CASES)[1])
            target = targets.mutate(random, path) if random.random() < 0.3 else path
            if random.random() < 0.1:
                target = random.choice(CASES)[0]
            return Message(target, "POST", [*version_of(path), *made[0]], made[1])

        for message in search.of(first(), mutated):
            if not takes(message):
                continue
            before = server.called
            if did := await server.ask(message):
                search.find(f"{did} {message.target[:12]}", f"{message.target} {message.fields} {message.body!r}")
            if server.called > before:
                search.reach()

    asyncio.run(run())
    search.finish(reached=10)
