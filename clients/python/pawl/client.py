"""What every client can do, sync and asyncio; sql.py and http.py say how a call is sent."""
from __future__ import annotations

import abc
import asyncio
import datetime
import time
from typing import TYPE_CHECKING, Any, Mapping, Sequence, TypeVar

from .calls import Appended, Call, Event, HttpCalls, JobResult, SqlCalls, new_key
from .errors import Busy, NotFound, PawlError, Unavailable, Unknown

if TYPE_CHECKING:
    from .worker import Leases, Worker

T = TypeVar("T")
RESOLVE_S = 10.0
PAUSE_S_MAX = 1.0


class _Resolution:
    """Only a call whose outcome is unknown is repeated, under the same key, which tells what happened; what still cannot be told after ten
    seconds is raised as Unknown, with the key."""

    def __init__(self, key: str | None) -> None:
        self.key, self.pause_s = key, 0.025
        self.unknown: Unknown | None = None
        self.end = time.monotonic() + RESOLVE_S

    def pause(self, error: PawlError) -> float:
        """How long to wait before the next try; raises when there is none."""
        if isinstance(error, Unknown) and self.key is not None:
            self.unknown = error
        elif self.unknown is None or not isinstance(error, (Unavailable, Busy)):
            raise error
        self.pause_s = min(self.pause_s * 2, PAUSE_S_MAX)
        if time.monotonic() + self.pause_s > self.end:
            assert self.unknown is not None
            self.unknown.idempotency_key = self.key
            raise self.unknown
        return self.pause_s


def _message(stream: str | None, topic: str | None, headers: Mapping[str, str] | None, correlation_id: str | None, causation_id: str | None,
             traceparent: str | None) -> dict[str, Any]:
    return {"stream": stream, "topic": topic, "headers": headers, "correlation_id": correlation_id, "causation_id": causation_id,
            "traceparent": traceparent}


class _Calls:
    _calls: SqlCalls | HttpCalls
    _slice_s: float  # of one wait

    def _leases(self) -> Leases:
        raise NotImplementedError

    def _send(self, type: str, payload: Any, id: str | None, key: str | None, options: dict[str, Any]) -> Call[str]:
        return self._calls.send(type, payload, {**options, "id": id}, key or id or new_key())

    def _append(self, stream: str, events: Event | Sequence[Event], expected: int | None, key: str | None) -> Call[Appended]:
        return self._calls.append(stream, [events] if isinstance(events, Event) else list(events), expected, key or new_key())

    def worker(self, service: str, *, concurrency: int = 10, queues: Sequence[str] = ("default",), lease: float = 60, instance_lease: float = 15,
               wait: float = 20, drain: float = 25) -> Worker:
        """A worker; times are seconds. concurrency: of each kind of messages and each queue. lease: of what is claimed, renewed while the
        handler runs. After a silence of instance_lease others take the work. drain: how long handlers may take to end when it stops."""
        from .worker import Worker

        return Worker(self._leases(), service, concurrency=concurrency, queues=queues, lease=lease, instance_lease=instance_lease, wait=wait,
                      drain=drain)


class Client(_Calls, abc.ABC):
    """The sync client."""

    @abc.abstractmethod
    def _run(self, call: Call[T]) -> T: ...

    def _resolve(self, call: Call[T]) -> T:
        resolution = _Resolution(call.key)
        while True:
            try:
                return self._run(call)
            except PawlError as error:
                time.sleep(resolution.pause(error))

    def send(self, type: str, payload: Any = None, *, stream: str | None = None, topic: str | None = None, headers: Mapping[str, str] | None = None,
             id: str | None = None, correlation_id: str | None = None, causation_id: str | None = None, traceparent: str | None = None,
             idempotency_key: str | None = None) -> str:
        """Stores an outbox message and returns its id."""
        return self._resolve(self._send(type, payload, id, idempotency_key, _message(stream, topic, headers, correlation_id, causation_id, traceparent)))

    def receive(self, consumer: str, id: str, type: str, payload: Any = None, *, stream: str | None = None, topic: str | None = None,
                headers: Mapping[str, str] | None = None, correlation_id: str | None = None, causation_id: str | None = None,
                traceparent: str | None = None) -> str:
        """Stores an inbox message once for each consumer and id: applied, duplicate or conflict."""
        return self._resolve(self._calls.receive(consumer, id, type, payload, _message(stream, topic, headers, correlation_id, causation_id, traceparent)))

    def append(self, stream: str, events: Event | Sequence[Event], *, expected: int | None = None, idempotency_key: str | None = None) -> Appended:
        """Appends events; expected is the version that the stream must have (0: it must not exist)."""
        return self._resolve(self._append(stream, events, expected, idempotency_key))

    def enqueue(self, type: str | None, payload: Any = None, *, task: str | None = None, queue: str | None = None, key: str | None = None,
                unique_key: str | None = None, run_at: datetime.datetime | None = None, deadline: datetime.datetime | None = None,
                priority: int | None = None, max_attempts: int | None = None, traceparent: str | None = None,
                idempotency_key: str | None = None) -> int:
        """Stores a job of a type, or of a task that pawl knows, and returns its id. Jobs with the same key share its limits; at most one
        unfinished job has a unique key."""
        options = {"task": task, "queue": queue, "key": key, "unique_key": unique_key, "run_at": run_at, "deadline": deadline, "priority": priority,
                   "max_attempts": max_attempts, "traceparent": traceparent}
        return self._resolve(self._calls.enqueue(type, payload, options, idempotency_key or new_key()))

    def cancel(self, job: int) -> bool:
        """Whether there was such a job. A running one is told when its lease is renewed."""
        try:
            return self._run(self._calls.cancel(job))
        except NotFound:
            return False

    def result(self, job: int, *, timeout: float = 60) -> JobResult:
        """Waits until a job has ended; after the timeout, how it is so far."""
        end = time.monotonic() + timeout
        while True:
            found = self._run(self._calls.result(job, max(0, min(end - time.monotonic(), self._slice_s))))
            if found.ended or time.monotonic() >= end:
                return found

    def wait_for(self, perspective: str, stream: str, version: int, *, timeout: float = 5) -> bool:
        """Waits until a perspective has applied a version of a stream, and says whether it has: so you read your own writes."""
        end = time.monotonic() + timeout
        while True:
            reached = self._run(self._calls.wait_for(perspective, stream, version, max(0, min(end - time.monotonic(), self._slice_s))))
            if reached or time.monotonic() >= end:
                return reached


class AsyncClient(_Calls, abc.ABC):
    """The same for asyncio."""

    @abc.abstractmethod
    async def _run(self, call: Call[T]) -> T: ...

    async def _resolve(self, call: Call[T]) -> T:
        resolution = _Resolution(call.key)
        while True:
            try:
                return await self._run(call)
            except PawlError as error:
                await asyncio.sleep(resolution.pause(error))

    async def send(self, type: str, payload: Any = None, *, stream: str | None = None, topic: str | None = None,
                   headers: Mapping[str, str] | None = None, id: str | None = None, correlation_id: str | None = None,
                   causation_id: str | None = None, traceparent: str | None = None, idempotency_key: str | None = None) -> str:
        options = _message(stream, topic, headers, correlation_id, causation_id, traceparent)
        return await self._resolve(self._send(type, payload, id, idempotency_key, options))

    async def receive(self, consumer: str, id: str, type: str, payload: Any = None, *, stream: str | None = None, topic: str | None = None,
                      headers: Mapping[str, str] | None = None, correlation_id: str | None = None, causation_id: str | None = None,
                      traceparent: str | None = None) -> str:
        options = _message(stream, topic, headers, correlation_id, causation_id, traceparent)
        return await self._resolve(self._calls.receive(consumer, id, type, payload, options))

    async def append(self, stream: str, events: Event | Sequence[Event], *, expected: int | None = None,
                     idempotency_key: str | None = None) -> Appended:
        return await self._resolve(self._append(stream, events, expected, idempotency_key))

    async def enqueue(self, type: str | None, payload: Any = None, *, task: str | None = None, queue: str | None = None, key: str | None = None,
                      unique_key: str | None = None, run_at: datetime.datetime | None = None, deadline: datetime.datetime | None = None,
                      priority: int | None = None, max_attempts: int | None = None, traceparent: str | None = None,
                      idempotency_key: str | None = None) -> int:
        options = {"task": task, "queue": queue, "key": key, "unique_key": unique_key, "run_at": run_at, "deadline": deadline, "priority": priority,
                   "max_attempts": max_attempts, "traceparent": traceparent}
        return await self._resolve(self._calls.enqueue(type, payload, options, idempotency_key or new_key()))

    async def cancel(self, job: int) -> bool:
        try:
            return await self._run(self._calls.cancel(job))
        except NotFound:
            return False

    async def result(self, job: int, *, timeout: float = 60) -> JobResult:
        end = time.monotonic() + timeout
        while True:
            found = await self._run(self._calls.result(job, max(0, min(end - time.monotonic(), self._slice_s))))
            if found.ended or time.monotonic() >= end:
                return found

    async def wait_for(self, perspective: str, stream: str, version: int, *, timeout: float = 5) -> bool:
        end = time.monotonic() + timeout
        while True:
            reached = await self._run(self._calls.wait_for(perspective, stream, version, max(0, min(end - time.monotonic(), self._slice_s))))
            if reached or time.monotonic() >= end:
                return reached
