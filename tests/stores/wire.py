"""A network between client and store that can be cut, or lose everything that is sent."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from typing import Self

from tests.stores.servers import HOST
from tests.workers import free_port


class Wire:
    """Forwards connections on its port to another port of this machine."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = free_port()
        self._selector = selectors.DefaultSelector()
        self._listener: socket.socket | None = None
        self._muted = False
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._forward)

    def cut(self) -> None:
        """Close all connections, and reject new ones."""
        with self._lock:
            for key in tuple(self._selector.get_map().values()):
                self._selector.unregister(key.fileobj)
                key.fileobj.close()
            self._listener = None

    def mute(self) -> None:
        """Lose what is sent, and leave connections open."""
        self._muted = True

    def mend(self) -> None:
        """Forward again; connections whose bytes were lost are closed."""
        if self._muted:
            self.cut()
        self._muted = False
        if self._listener is None:
            self._listen()

    def __enter__(self) -> Self:
        self._listen()
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stopped.set()
        self._thread.join(10)
        self.cut()
        self._selector.close()

    def _listen(self) -> None:
        listener = socket.create_server((HOST, self.port))
        with self._lock:
            self._listener = listener
            self._selector.register(listener, selectors.EVENT_READ)

    def _forward(self) -> None:
        while not self._stopped.is_set():
            ready = self._selector.select(0.02)
            with self._lock:
                for key, _ in ready:
                    if key.fileobj.fileno() < 0:
                        continue
                    if key.data is None:
                        self._connect(key.fileobj)
                    else:
                        self._pass_on(key.fileobj, key.data)

    def _connect(self, listener: socket.socket) -> None:
        near = listener.accept()[0]
        try:
            far = socket.create_connection((HOST, self.target))
        except OSError:
            near.close()
            return
        self._selector.register(near, selectors.EVENT_READ, far)
        self._selector.register(far, selectors.EVENT_READ, near)

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            received = source.recv(65536)
            if received and not self._muted:
                sink.sendall(received)
        except OSError:
            received = b""
        if not received:
            for end in (source, sink):
                with contextlib.suppress(KeyError, ValueError):
                    self._selector.unregister(end)
                end.close()
