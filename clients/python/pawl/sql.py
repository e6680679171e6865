"""pawl over PostgreSQL with psycopg 3: on a connection of its own, or inside the caller's own transaction."""
from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from typing import Any, TypeVar

import psycopg

from .calls import Call, Json, SqlCalls, new_key, schema_name, seconds, sql_text
from .client import AsyncClient, Client
from .errors import Conflict, Invalid, PawlError, Unknown, failure
from .worker import Item, Leases

T = TypeVar("T")
SyncConnection = psycopg.Connection[Any]
AsyncConnection = psycopg.AsyncConnection[Any]
SLICE_S = 5.0  # a waiting statement holds back vacuum, so it is never long
POLL_S = 1.0
LISTEN_S = 30.0
_WORDS = {"PW001": "invalid", "PW002": "not_found", "PW003": "conflict", "PW004": "stale", "42501": "denied"}
_BUSY = ("40001", "40P01", "55P03", "57014", "53")


def _word(error: psycopg.Error, broken: bool, outcome: str) -> PawlError:
    state = error.sqlstate or ""
    if broken or not state or state.startswith(("08", "57P")):
        return failure(outcome, f"the connection to PostgreSQL was lost: {error}")
    text = error.diag.message_primary or str(error)
    return failure(_WORDS.get(state) or ("busy" if state.startswith(_BUSY) else "internal"), text)


def _read(call: Call[T], rows: list[Any]) -> T:
    return call.read([row[0] for row in rows])


class SqlClient(Client):
    """on: an address (postgres://…), then the client has a connection of its own; or a connection, whose transaction everything then
    belongs to. schema: pawl's; by default the one that PAWL_SCHEMA names, else pawl."""

    _slice_s = SLICE_S

    def __init__(self, on: str | SyncConnection, *, schema: str | None = None) -> None:
        self._calls, self._schema, self._lock = SqlCalls(), schema_name(schema), threading.Lock()
        self._url = on if isinstance(on, str) else None
        self._connection = None if isinstance(on, str) else on

    def close(self) -> None:
        if self._url is not None and self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run(self, call: Call[T]) -> T:
        text, values = sql_text(self._schema, call)
        with self._lock:
            connection = self._connected()
            try:
                # Inside the caller's transaction a lost connection is a transaction that never commits.
                return _read(call, connection.execute(text, values).fetchall())
            except psycopg.Error as error:
                raise _word(error, connection.broken or connection.closed, "unknown" if self._url is not None and call.changes else "unavailable") from error

    def _connected(self) -> SyncConnection:
        if self._url is not None and (self._connection is None or self._connection.closed):
            try:
                self._connection = psycopg.connect(self._url, autocommit=True)
            except psycopg.Error as error:
                raise _word(error, True, "unavailable") from error
        assert self._connection is not None
        return self._connection

    def _leases(self) -> Leases:
        return _leases_of(self._url, self._schema)


class AsyncSqlClient(AsyncClient):
    """The same for asyncio. Calls on a connection of its own wait for each other."""

    _slice_s = SLICE_S

    def __init__(self, on: str | AsyncConnection, *, schema: str | None = None) -> None:
        self._calls, self._schema, self._lock = SqlCalls(), schema_name(schema), asyncio.Lock()
        self._url = on if isinstance(on, str) else None
        self._connection = None if isinstance(on, str) else on

    async def close(self) -> None:
        if self._url is not None and self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _run(self, call: Call[T]) -> T:
        text, values = sql_text(self._schema, call)
        async with self._lock:
            connection = await self._connected()
            try:
                return _read(call, await (await connection.execute(text, values)).fetchall())
            except psycopg.Error as error:
                raise _word(error, connection.broken or connection.closed, "unknown" if self._url is not None and call.changes else "unavailable") from error

    async def _connected(self) -> AsyncConnection:
        if self._url is not None and (self._connection is None or self._connection.closed):
            try:
                self._connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
            except psycopg.Error as error:
                raise _word(error, True, "unavailable") from error
        assert self._connection is not None
        return self._connection

    def _leases(self) -> Leases:
        return _leases_of(self._url, self._schema)


def _leases_of(url: str | None, schema: str) -> Leases:
    if url is None:
        raise Invalid("a worker needs the address of the database, not a connection that has a transaction")
    return _SqlLeases(url, schema)


def _same(rows: list[Any]) -> list[Any]:
    return rows


class _SqlLeases(Leases):
    """What a worker does, on the SQL functions. Each call takes a connection that is idle, or makes one."""

    def __init__(self, url: str, schema: str) -> None:
        self._url, self._schema = url, schema
        self._idle: list[AsyncSqlClient] = []
        self._ears: asyncio.Task[None] | None = None
        self._woken: asyncio.Condition | None = None

    async def _call(self, name: str, values: dict[str, Any], key: str | None = None) -> list[Any]:
        client = self._idle.pop() if self._idle else AsyncSqlClient(self._url, schema=self._schema)
        try:
            rows = await client._resolve(Call(name, values, _same, key))
        except BaseException:
            await client.close()  # a statement that was given up may still run
            raise
        self._idle.append(client)
        return rows

    async def register(self, service: str, kinds: list[str], lease: float, host: str) -> None:
        self._woken = asyncio.Condition()
        instance = new_key()  # one that nobody knows of would keep its lanes until its lease ends
        values = {"service": service, "kinds": kinds, "instance": instance, "lease": seconds(lease), "host": host, "process_id": os.getpid()}
        try:
            await self._call("register", values)
        except Unknown:
            with contextlib.suppress(Conflict):  # it is known: the call before has happened
                await self._call("register", values, instance)
        self.instance = instance
        if self._ears is not None:
            self._ears.cancel()
        self._ears = asyncio.create_task(self._listen())

    async def beat(self) -> None:
        await self._call("heartbeat", {"instance": self.instance})

    async def deregister(self) -> None:
        await self._call("deregister", {"instance": self.instance})

    async def close(self) -> None:
        if self._ears is not None:
            self._ears.cancel()
        for client in self._idle:
            await client.close()

    async def claim(self, kind: str, queue: str | None, most: int, lease: float, wait: float) -> list[Item]:
        jobs, end = kind == "jobs", time.monotonic() + wait
        while True:
            request = new_key()  # a claim that may have happened is repeated under its key: it grants the same
            values = {"instance": self.instance, "max": most, "lease": seconds(lease), "request": request, "queue": queue, "kind": None if jobs else kind}
            rows = await self._call("job_claim" if jobs else "claim", values, request)
            left = end - time.monotonic()
            if rows or left <= 0:
                return [Item.of(row, kind) for row in rows]
            assert self._woken is not None
            async with self._woken:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), min(POLL_S, left))

    async def _listen(self) -> None:
        """Wakes the claims when there is work; while it cannot, polling has to do."""
        while True:
            with contextlib.suppress(psycopg.Error, PawlError):
                await self._hear()
            await asyncio.sleep(LISTEN_S)

    async def _hear(self) -> None:
        channel = str((await self._call("listen", {"instance": self.instance}))[0])
        connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
        async with connection:
            await connection.execute(f'LISTEN "{channel}"')
            again = asyncio.create_task(self._listen_again())
            try:
                async for _ in connection.notifies():
                    await self._wake()
            finally:
                again.cancel()

    async def _wake(self) -> None:
        assert self._woken is not None
        async with self._woken:
            self._woken.notify_all()

    async def _listen_again(self) -> None:
        while True:
            await self._wake()  # what was put before we listened
            await asyncio.sleep(LISTEN_S)
            with contextlib.suppress(PawlError):
                await self._call("listen", {"instance": self.instance})

    def _refs(self, kind: str, items: list[Item], **more: Any) -> dict[str, Any]:
        return {"instance": self.instance, "tokens": [item.token for item in items], "ids": [int(item.id) if kind == "jobs" else item.id for item in items],
                "kind": None if kind == "jobs" else kind, **more}

    async def _report(self, verb: str, kind: str, values: dict[str, Any]) -> list[str]:
        rows = await self._call(f"job_{verb}" if kind == "jobs" else verb, values)
        return [str(word) for word in rows[0]]

    async def renew(self, kind: str, items: list[Item], lease: float, progress: list[Any] | None = None) -> list[str]:
        values = self._refs(kind, items, lease=seconds(lease))
        if kind != "jobs":
            return await self._report("renew", kind, values)
        values["progress"] = None if progress is None else [Json(one) for one in progress]
        row = (await self._call("job_renew", values))[0]
        return ["cancel" if cancelled else str(answer) for answer, cancelled in zip(row["answers"], row["cancelled"])]

    async def complete(self, kind: str, items: list[Item]) -> list[str]:
        outputs = [Json(item.output) for item in items] if kind == "jobs" and any(item.output is not None for item in items) else None
        return await self._report("complete", kind, self._refs(kind, items, outputs=outputs))

    async def fail(self, kind: str, items: list[Item], permanent: bool, delay: float | None) -> list[str]:
        errors = [item.error for item in items]
        return await self._report("fail", kind, self._refs(kind, items, errors=errors, permanent=permanent, delay=seconds(delay)))

    async def release(self, kind: str, items: list[Item], delay: float) -> list[str]:
        return await self._report("release", kind, self._refs(kind, items, delay=seconds(delay)))

    def finish(self, item: Item, on: Any, output: Any) -> Any:
        jobs = item.kind == "jobs"
        values = {"token": item.token, "id": int(item.id) if jobs else item.id, "kind": None if jobs else item.kind,
                  "output": Json(output) if jobs and output is not None else None}
        call = Call("job_finish" if jobs else "finish", values, len)
        if isinstance(on, psycopg.AsyncConnection):
            return AsyncSqlClient(on, schema=self._schema)._run(call)
        return SqlClient(on, schema=self._schema)._run(call)
