"""pawl over HTTP: the routes of pawl server, with nothing but the standard library. Each request has a connection of its own."""
from __future__ import annotations

import asyncio
import json
import socket
import ssl
import urllib.parse
from typing import Any, TypeVar

from .calls import Call, HttpCalls, Row, new_key
from .client import AsyncClient, Client
from .errors import Invalid, PawlError, Unavailable, Unknown, failure
from .worker import Item, Leases

T = TypeVar("T")
GRACE_S = 10.0  # beyond the time that the server may wait by itself
_BY_STATUS = {400: "invalid", 401: "denied", 403: "denied", 404: "not_found", 409: "busy", 413: "invalid", 415: "invalid", 421: "denied",
              422: "conflict", 502: "unknown", 503: "unavailable", 504: "unknown"}


def _problem(status: int, body: Any) -> PawlError:
    said: dict[str, str] = body if isinstance(body, dict) else {}
    _, known, word = said.get("type", "").partition("urn:pawl:problem:")
    code = word.replace("-", "_") if known else _BY_STATUS.get(status, "internal")
    return failure(code, said.get("detail") or f"HTTP status {status}")


class _Route:
    """Where the server is, and the bytes of requests and answers."""

    def __init__(self, url: str, token: str | None, worker_token: str | None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Invalid(f"{url} is not an address like http://127.0.0.1:7295")
        self.host, self.tls = parts.hostname, ssl.create_default_context() if parts.scheme == "https" else None
        self.port = parts.port or (443 if self.tls else 80)
        self.netloc, self.path, self.url = parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), url
        self.token, self.worker_token = token, worker_token or token

    def request(self, call: Call[Any]) -> bytes:
        method, path = call.name.split(" ", 1)
        token = self.worker_token if path.startswith("/v1/leases") else self.token
        body = json.dumps(call.values).encode() if method != "GET" else b""
        head = [f"{method} {self.path}{path} HTTP/1.1", f"Host: {self.netloc}", f"Authorization: Bearer {token}", "Connection: close",
                f"Content-Length: {len(body)}"]
        if body:
            head.append("Content-Type: application/json")
        if call.key is not None and method == "POST":
            head.append("Idempotency-Key: " + urllib.parse.quote(call.key, safe=" -_.:/@"))
        return "\r\n".join(head).encode() + b"\r\n\r\n" + body

    def answer(self, call: Call[T], data: bytes) -> T:
        head, end, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        if not end or not lines[0].startswith("HTTP/1."):
            raise self.lost(call, "the answer is cut off")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = _unchunked(body)
        elif len(body) < int(headers.get("content-length", "0")):
            raise self.lost(call, "the answer is cut off")
        status = int(lines[0].split(" ")[1])
        value = json.loads(body) if body and "json" in headers.get("content-type", "") else None
        if status >= 400:
            raise _problem(status, value)
        if "idempotent-replayed" in headers and isinstance(value, dict):
            value["answer"] = "duplicate"
        rows: list[Row] = [value if value is not None else {}]
        return call.read(rows)

    def lost(self, call: Call[Any], why: object) -> PawlError:
        """A request that changes something and gets no answer may have happened."""
        return (Unknown if call.changes else Unavailable)(f"no answer from {self.url}: {why}")


def _unchunked(data: bytes) -> bytes:
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        if length == 0:
            break
        out, data = out + data[:length], data[length + 2:]
    return out


class HttpClient(Client):
    """token: of the operator, to send and to wait; worker_token: of the lease API (pawl server --lease-api)."""

    _slice_s = 60.0

    def __init__(self, url: str, *, token: str | None = None, worker_token: str | None = None) -> None:
        self._calls, self._route = HttpCalls(), _Route(url, token, worker_token)

    def _run(self, call: Call[T]) -> T:
        route = self._route
        try:
            plain = socket.create_connection((route.host, route.port), timeout=call.wait + GRACE_S)
            connection = route.tls.wrap_socket(plain, server_hostname=route.host) if route.tls else plain
        except OSError as error:
            raise Unavailable(f"cannot connect to {route.url}: {error}") from error
        with connection:
            try:
                connection.sendall(route.request(call))
                data = b"".join(iter(lambda: connection.recv(65536), b""))
            except OSError as error:
                raise route.lost(call, error) from error
        return route.answer(call, data)

    def _leases(self) -> Leases:
        return _HttpLeases(AsyncHttpClient(self._route.url, token=self._route.token, worker_token=self._route.worker_token))


class AsyncHttpClient(AsyncClient):
    """The same for asyncio."""

    _slice_s = 60.0

    def __init__(self, url: str, *, token: str | None = None, worker_token: str | None = None) -> None:
        self._calls, self._route = HttpCalls(), _Route(url, token, worker_token)

    async def _run(self, call: Call[T]) -> T:
        route = self._route
        try:
            connecting = asyncio.open_connection(route.host, route.port, ssl=route.tls)
            reader, writer = await asyncio.wait_for(connecting, GRACE_S)
        except (OSError, asyncio.TimeoutError) as error:
            raise Unavailable(f"cannot connect to {route.url}: {error}") from error
        try:
            writer.write(route.request(call))
            data = await asyncio.wait_for(reader.read(-1), call.wait + GRACE_S)
        except (OSError, asyncio.TimeoutError) as error:
            raise route.lost(call, error) from error
        finally:
            writer.close()
        return route.answer(call, data)

    def _leases(self) -> Leases:
        return _HttpLeases(self)


def _items(rows: list[Row]) -> list[Any]:
    return list(rows[0]["items"])


class _HttpLeases(Leases):
    """What a worker does, on the lease API."""

    def __init__(self, client: AsyncHttpClient) -> None:
        self._client = client

    async def register(self, service: str, kinds: list[str], lease: float, host: str) -> None:
        body = {"service": service, "kinds": kinds, "lease_ms": round(lease * 1000), "host": host}
        # An instance that nobody knows of would keep its lanes until its lease ends.
        self.instance = await self._client._resolve(Call("POST /v1/leases", body, lambda rows: str(rows[0]["id"]), new_key()))

    async def beat(self) -> None:
        await self._client._run(Call(f"POST /v1/leases/{self.instance}/beat", {}, len))

    async def deregister(self) -> None:
        await self._client._run(Call(f"DELETE /v1/leases/{self.instance}", {}, len))

    async def claim(self, kind: str, queue: str | None, most: int, lease: float, wait: float) -> list[Item]:
        body = {"kind": kind, "max": most, "lease_ms": round(lease * 1000), "wait_ms": round(min(wait, 30) * 1000), **({"queue": queue} if queue else {})}
        # A claim that may have happened is repeated under its key: it grants the same.
        rows = await self._client._resolve(Call(f"POST /v1/leases/{self.instance}/claim", body, _items, new_key(), wait=wait))
        return [Item.of(row, kind) for row in rows]

    async def renew(self, kind: str, items: list[Item], lease: float, progress: list[Any] | None = None) -> list[str]:
        more = [{} if progress is None else {"progress": one} for one in (progress or items)]
        return await self._report("renew", kind, items, more, {"lease_ms": round(lease * 1000)})

    async def complete(self, kind: str, items: list[Item]) -> list[str]:
        return await self._report("complete", kind, items, [{} if item.output is None else {"output": item.output} for item in items])

    async def fail(self, kind: str, items: list[Item], permanent: bool, delay: float | None) -> list[str]:
        rest: dict[str, Any] = {"permanent": permanent, **({} if delay is None else {"delay_ms": round(delay * 1000)})}
        return await self._report("fail", kind, items, [{"error": item.error, **rest} for item in items])

    async def release(self, kind: str, items: list[Item], delay: float) -> list[str]:
        return await self._report("release", kind, items, [{"delay_ms": round(delay * 1000)} for _ in items])

    async def _report(self, verb: str, kind: str, items: list[Item], more: list[dict[str, Any]], rest: dict[str, Any] | None = None) -> list[str]:
        body = {"kind": kind, "items": [{"token": item.token, "id": item.id, **one} for item, one in zip(items, more)], **(rest or {})}
        rows = await self._client._run(Call(f"POST /v1/leases/{self.instance}/{verb}", body, _items))
        return [str(row["answer"]) for row in rows]
