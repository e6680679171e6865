"""A worker: claims work, runs handlers, keeps their leases, reports, and drains when it is to stop. The same on SQL and HTTP.

It lives in one asyncio loop. A handler that is a coroutine function runs there, any other function in a thread.
"""
from __future__ import annotations

import abc
import asyncio
import collections
import concurrent.futures
import contextlib
import dataclasses
import inspect
import logging
import signal as signals_of
import socket
import threading
import time
from typing import Any, Awaitable, Callable, Mapping, Sequence, TypeVar

from .errors import Busy, Invalid, PawlError, Stale, Unavailable, Unknown
from .handlers import Handlers, Verdict, verdict_of

F = TypeVar("F", bound=Callable[..., Any])
NO_HANDLER_S = 5.0  # work without a handler is left to other workers for so long
LAST_S = 2.0  # a handler that was told to stop has so long
PAUSE_S_MAX = 5.0
REPORT_MAX = 100
log = logging.getLogger("pawl")
PASSING = (Unavailable, Unknown, Busy)


class Signal:
    """Aborted when the lease is lost, the job is cancelled, or the worker must stop; reason says which."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.reason: str | None = None

    @property
    def aborted(self) -> bool:
        return self._event.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._event.wait(timeout)

    def _abort(self, reason: str) -> None:
        self.reason = reason
        self._event.set()


@dataclasses.dataclass(eq=False)
class Item:
    """A message or a job as it was claimed."""

    id: str
    kind: str
    type: str
    payload: Any
    attempt: int
    stream: str | None = None
    topic: str | None = None
    headers: Mapping[str, str] | None = None
    traceparent: str | None = None
    task: str | None = None
    progress: Any = None
    token: Any = dataclasses.field(default=None, repr=False)
    signal: Signal = dataclasses.field(default_factory=Signal, repr=False)
    output: Any = dataclasses.field(default=None, repr=False)
    error: str | None = dataclasses.field(default=None, repr=False)
    _until: float = dataclasses.field(default=0, repr=False)
    _running: bool = dataclasses.field(default=False, repr=False)
    _finished: bool = dataclasses.field(default=False, repr=False)
    _task: asyncio.Task[Any] | None = dataclasses.field(default=None, repr=False)
    _left: Callable[[], None] = dataclasses.field(default=lambda: None, repr=False)

    @classmethod
    def of(cls, row: Mapping[str, Any], kind: str) -> Item:
        names = ("type", "payload", "attempt", "stream", "topic", "headers", "traceparent", "task", "progress", "token")
        return cls(id=str(row["id"]), kind=kind, **{name: row.get(name) for name in names})  # type: ignore[arg-type]


class Leases(abc.ABC):
    """What a worker asks of pawl."""

    instance: str = ""

    @abc.abstractmethod
    async def register(self, service: str, kinds: list[str], lease: float, host: str) -> None: ...
    @abc.abstractmethod
    async def beat(self) -> None: ...
    @abc.abstractmethod
    async def deregister(self) -> None: ...
    @abc.abstractmethod
    async def claim(self, kind: str, queue: str | None, most: int, lease: float, wait: float) -> list[Item]: ...
    @abc.abstractmethod
    async def renew(self, kind: str, items: list[Item], lease: float, progress: list[Any] | None = None) -> list[str]: ...
    @abc.abstractmethod
    async def complete(self, kind: str, items: list[Item]) -> list[str]: ...
    @abc.abstractmethod
    async def fail(self, kind: str, items: list[Item], permanent: bool, delay: float | None) -> list[str]: ...
    @abc.abstractmethod
    async def release(self, kind: str, items: list[Item], delay: float) -> list[str]: ...

    def finish(self, item: Item, on: Any, output: Any) -> Any:
        raise Invalid("only a worker over SQL can finish its work inside a transaction")

    async def close(self) -> None:
        pass


class Context:
    """For a handler that is a function."""

    def __init__(self, worker: Worker, item: Item) -> None:
        self._worker, self._item = worker, item
        self.signal, self.attempt = item.signal, item.attempt

    def progress(self, value: Any) -> None:
        """Stores how far a job is, for its next attempt, and renews its lease."""
        assert self._worker._loop is not None
        asyncio.run_coroutine_threadsafe(self._worker._progress(self._item, value), self._worker._loop).result()

    def finish(self, connection: Any, output: Any = None) -> None:
        """SQL only: ends the work inside the transaction of a psycopg connection, together with everything else that it writes."""
        self._worker._leases.finish(self._item, connection, output)
        self._item._finished = True


class AsyncContext:
    """For a handler that is a coroutine function; it is cancelled when its signal is aborted."""

    def __init__(self, worker: Worker, item: Item) -> None:
        self._worker, self._item = worker, item
        self.signal, self.attempt = item.signal, item.attempt

    async def progress(self, value: Any) -> None:
        await self._worker._progress(self._item, value)

    async def finish(self, connection: Any, output: Any = None) -> None:
        await self._worker._leases.finish(self._item, connection, output)
        self._item._finished = True


class Worker:
    """Register handlers with @worker.message("order.*") and @worker.job("report"), then run()."""

    def __init__(self, leases: Leases, service: str, *, concurrency: int, queues: Sequence[str], lease: float, instance_lease: float, wait: float,
                 drain: float) -> None:
        self.handlers, self._leases, self.service, self.concurrency, self.queues = Handlers(), leases, service, concurrency, list(queues)
        self.lease, self.instance_lease, self.wait, self.drain = lease, instance_lease, wait, drain
        self._held: set[Item] = set()
        self._streams: dict[tuple[str, str], collections.deque[Item]] = {}
        self._reports: collections.deque[tuple[Item, Verdict]] = collections.deque()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._reporting: asyncio.Task[None] | None = None
        self._registering: asyncio.Task[None] | None = None
        self._stop_wanted = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._beat_at = 0.0

    def message(self, pattern: str, *, kind: str = "outbox") -> Callable[[F], F]:
        """A handler of messages; kind may be inbox."""
        def add(run: F) -> F:
            self.handlers.add(kind, pattern, run)
            return run
        return add

    def job(self, type: str) -> Callable[[F], F]:
        """A handler of jobs; what it returns is the job's output."""
        def add(run: F) -> F:
            self.handlers.add("jobs", type, run)
            return run
        return add

    def run(self, *, signals: bool = True) -> None:
        """Works until stop() is called or, unless signals is false, until SIGTERM or SIGINT."""
        asyncio.run(self.run_async(signals=signals))

    def stop(self) -> None:
        """From any thread."""
        self._stop_wanted = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._stopping.set)

    async def run_async(self, *, signals: bool = True) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        if self._stop_wanted:
            self._stopping.set()
        threads = self.concurrency * (len(self.handlers.kinds()) + len(self.queues))
        self._threads = concurrent.futures.ThreadPoolExecutor(threads, thread_name_prefix="pawl")
        ticks: list[asyncio.Task[Any]] = []
        if signals:
            for number in (signals_of.SIGTERM, signals_of.SIGINT):
                self._loop.add_signal_handler(number, self._stopping.set)
        try:
            await self._register()
            ticks = [asyncio.create_task(self._every(self.instance_lease / 4, self._beat)), asyncio.create_task(self._every(self.lease / 6, self._renew))]
            sources: list[tuple[str, str | None]] = []
            for kind in self.handlers.kinds():
                sources += [(kind, queue) for queue in self.queues] if kind == "jobs" else [(kind, None)]
            await asyncio.gather(*(self._claim(kind, queue) for kind, queue in sources))
            await self._drain()
            with contextlib.suppress(PawlError):
                await self._leases.deregister()
        finally:
            for task in ticks:
                task.cancel()
            if signals:
                for number in (signals_of.SIGTERM, signals_of.SIGINT):
                    self._loop.remove_signal_handler(number)
            await self._leases.close()
            self._threads.shutdown(wait=False)

    # ---- The instance

    async def _register(self) -> None:
        pause = 0.1
        while True:
            self._beat_at = time.monotonic()
            try:
                return await self._leases.register(self.service, self.handlers.kinds(), self.instance_lease, socket.gethostname())
            except PASSING as error:
                if self._stopping.is_set():
                    raise
                log.warning("cannot register yet: %s", error)
            await self._pause(pause)
            pause = min(pause * 2, PAUSE_S_MAX)

    async def _pause(self, seconds: float) -> None:
        """Shorter when the worker is to stop."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _every(self, seconds: float, run: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await run()
            except PawlError as error:
                log.warning("%s", error)

    async def _beat(self) -> None:
        began, instance = time.monotonic(), self._leases.instance
        try:
            await self._leases.beat()
            self._beat_at = began
        except PawlError as error:
            if isinstance(error, Stale) or time.monotonic() - self._beat_at > self.instance_lease:
                await self._again(error, instance)

    async def _again(self, error: PawlError, instance: str) -> None:
        """The instance has ended: everything that it held is lost, and it begins anew. Another call may have noticed it before."""
        if instance == self._leases.instance and self._registering is None:
            log.warning("the instance has ended; registering again: %s", error)
            for item in list(self._held):
                self._lose(item, "lost")
            self._registering = asyncio.create_task(self._register())
        if self._registering is not None:
            await self._registering
            self._registering = None

    # ---- Claims

    async def _claim(self, kind: str, queue: str | None) -> None:
        free, more = self.concurrency, asyncio.Event()

        def left() -> None:
            nonlocal free
            free += 1
            more.set()

        while not self._stopping.is_set():
            if free == 0:
                more.clear()
                await self._first(more.wait())
                continue
            for item in await self._take(kind, queue, free):
                free -= 1
                item._left = left
                self._begin(item)

    async def _first(self, waiting: Any) -> Any:
        """What is waited for, or None when the worker is to stop first."""
        task, stop = asyncio.ensure_future(waiting), asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, PawlError):
                return await task
            return None
        return task.result()

    async def _take(self, kind: str, queue: str | None, most: int) -> list[Item]:
        pause = 0.1
        while not self._stopping.is_set():
            began, instance = time.monotonic(), self._leases.instance
            try:
                items: list[Item] = await self._first(self._leases.claim(kind, queue, most, self.lease, self.wait)) or []
                for item in items:
                    item._until = began + self.lease
                return items
            except Stale as error:
                await self._again(error, instance)
                return []
            except PawlError as error:
                log.warning("cannot claim: %s", error)
                await self._pause(pause if isinstance(error, PASSING) else PAUSE_S_MAX)
            pause = min(pause * 2, PAUSE_S_MAX)
        return []

    # ---- Handlers. Messages of one stream run one after the other.

    def _begin(self, item: Item) -> None:
        self._held.add(item)
        if item.kind == "jobs" or not item.stream:
            return self._spawn(self._handle(item))
        name = (item.kind, item.stream)
        if name in self._streams:
            self._streams[name].append(item)
        else:
            self._streams[name] = collections.deque([item])
            self._spawn(self._follow(name))

    def _spawn(self, run: Any) -> None:
        task = asyncio.create_task(run)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, name: tuple[str, str]) -> None:
        queue = self._streams[name]
        while queue:
            if not await self._handle(queue.popleft()):
                while queue:  # nothing of the stream may pass a message that was not done
                    self._end(queue.popleft(), Verdict("release"))
        del self._streams[name]

    async def _handle(self, item: Item) -> bool:
        """Whether the item is done."""
        run = self.handlers.find(item.kind, item.type)
        if item.signal.aborted or self._stopping.is_set():
            return self._end(item, Verdict("release"))
        if run is None:
            log.warning("there is no handler for %s", item.type)
            return self._end(item, Verdict("release", delay=NO_HANDLER_S))
        item._running = True
        try:
            if inspect.iscoroutinefunction(run):
                item._task = asyncio.create_task(run(item, AsyncContext(self, item)))
                item.output = await item._task
            else:
                item.output = await asyncio.get_running_loop().run_in_executor(self._threads, run, item, Context(self, item))
        except (Exception, asyncio.CancelledError) as error:
            item._running = False
            if isinstance(error, asyncio.CancelledError) and not item.signal.aborted:
                raise
            verdict = verdict_of(error)
            if item.signal.reason == "stopping" and verdict.verb == "fail" and not verdict.permanent:
                verdict = Verdict("release")
            return self._end(item, verdict)
        item._running = False
        return self._leave(item, True) if item._finished else self._end(item, Verdict("complete"))

    async def _progress(self, item: Item, value: Any) -> None:
        answers = await self._leases.renew(item.kind, [item], self.lease, [value])
        self._heard(item, answers[0])

    def _lose(self, item: Item, reason: str) -> None:
        """The grant has ended, or someone wants it to."""
        if item.signal.reason == "lost":
            return
        item.signal._abort(reason)
        if item._task is not None:
            item._task.cancel()

    def _leave(self, item: Item, done: bool) -> bool:
        self._held.discard(item)
        item._left()
        return done

    # ---- Reports: one call at a time, in order; what ends meanwhile goes with the next one.

    def _end(self, item: Item, verdict: Verdict) -> bool:
        if item.signal.reason == "lost":
            return self._leave(item, False)
        item.error = verdict.error
        self._reports.append((item, verdict))
        if self._reporting is None:
            self._reporting = asyncio.create_task(self._report())
        return verdict.verb == "complete"

    async def _report(self) -> None:
        while self._reports:
            items, verdict = [self._reports[0][0]], self._reports.popleft()[1]
            same = dataclasses.replace(verdict, error=None)
            while self._reports and len(items) < REPORT_MAX:
                item, other = self._reports[0]
                if item.kind != items[0].kind or dataclasses.replace(other, error=None) != same:
                    break
                items.append(self._reports.popleft()[0])
            await self._tell(items, verdict)
            for item in items:
                self._leave(item, True)
        self._reporting = None

    async def _tell(self, items: list[Item], verdict: Verdict) -> None:
        """A report that may have happened is repeated: the token makes it harmless. It is dropped when the leases are over."""
        kind, pause = items[0].kind, 0.05
        while True:
            try:
                if verdict.verb == "complete":
                    answers = await self._leases.complete(kind, items)
                elif verdict.verb == "fail":
                    answers = await self._leases.fail(kind, items, verdict.permanent, verdict.delay)
                else:
                    answers = await self._leases.release(kind, items, verdict.delay or 0)
                for item, answer in zip(items, answers):
                    if answer not in ("applied", "duplicate"):
                        log.warning("the report of %s %s is %s", item.type, item.id, answer)
                return
            except PawlError as error:
                if not isinstance(error, PASSING) or all(time.monotonic() > item._until for item in items):
                    return log.error("cannot report: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, PAUSE_S_MAX)

    # ---- Leases

    async def _renew(self) -> None:
        now = time.monotonic()
        for item in list(self._held):
            if now > item._until - self.lease / 10:
                self._lose(item, "lost")
        old = [item for item in self._held if item.signal.reason != "lost" and item._until - now < self.lease * 2 / 3]
        for kind in {item.kind for item in old}:
            items, began = [item for item in old if item.kind == kind], time.monotonic()
            try:
                answers = await self._leases.renew(kind, items, self.lease)
            except PawlError as error:
                log.warning("cannot renew: %s", error)
                continue
            for item, answer in zip(items, answers):
                if answer == "applied":
                    item._until = began + self.lease
                self._heard(item, answer)

    def _heard(self, item: Item, answer: str) -> None:
        if item in self._held and answer != "applied":
            self._lose(item, "cancelled" if answer == "cancel" else "lost")

    # ---- The end

    async def _drain(self) -> None:
        async def until(seconds: float) -> None:
            end = time.monotonic() + seconds
            while any(item._running for item in self._held) and time.monotonic() < end:
                await asyncio.sleep(0.02)

        await until(self.drain)
        for item in list(self._held):
            if item._running:
                self._lose(item, "stopping")
        await until(LAST_S)
        if self._reporting is not None:
            await self._reporting
