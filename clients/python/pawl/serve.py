"""A handler program that pawl worker keeps running (pipe:): one line of JSON per item in, one per result out."""
from __future__ import annotations

import concurrent.futures
import json
import sys
import threading
from typing import IO, Any, Callable, TypeVar

from .handlers import Handlers, verdict_of
from .worker import Signal

F = TypeVar("F", bound=Callable[..., Any])


class ServeContext:
    def __init__(self, server: Server, line: dict[str, Any], body: Any) -> None:
        self._server, self._id = server, line["id"]
        inside: dict[str, Any] = body if isinstance(body, dict) else {}
        self.signal, self.attempt = Signal(), int(inside.get("attempt") or 1)
        self.receptor, self.perspective, self.tool = (line.get(name) for name in ("receptor", "perspective", "tool"))
        self.idempotency_key: str | None = line.get("idempotency_key") or inside.get("idempotency_key")

    def progress(self, value: Any) -> None:
        """Stores how far a job is, for its next attempt."""
        self._server._say({"id": self._id, "progress": value})

    def log(self, text: str, level: str = "info") -> None:
        self._server._say({"id": self._id, "log": text, "level": level})


class Server:
    """Register handlers with @server.message("order.*") and the like, then serve()."""

    def __init__(self) -> None:
        self.handlers, self._lock = Handlers(), threading.Lock()
        self._running: dict[Any, ServeContext] = {}

    def _add(self, kind: str, pattern: str) -> Callable[[F], F]:
        def add(run: F) -> F:
            self.handlers.add(kind, pattern, run)
            return run
        return add

    def message(self, pattern: str) -> Callable[[F], F]:
        return self._add("messages", pattern)

    def job(self, type: str) -> Callable[[F], F]:
        return self._add("jobs", type)

    def perspective(self, name: str) -> Callable[[F], F]:
        """A handler of the events of a perspective."""
        return self._add("events", name)

    def tool(self, name: str) -> Callable[[F], F]:
        """A handler of the calls of a tool."""
        return self._add("tools", name)

    def serve(self, *, at_once: int = 1, input: IO[str] | None = None, output: IO[str] | None = None) -> None:
        """Serves until the worker closes the input; then what runs is finished. at_once items run at the same time, in threads."""
        self._output = output or sys.stdout
        self._say({"ready": True, "at_once": at_once})
        with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
            for text in input or sys.stdin:
                line = json.loads(text)
                if "cancel" in line:
                    context = self._running.get(line["id"])
                    if context is not None:
                        context.signal._abort(line["cancel"])
                else:
                    kind, name, body = _item_of(line)
                    context = self._running[line["id"]] = ServeContext(self, line, body)
                    threads.submit(self._handle, kind, name, body, context)

    def _handle(self, kind: str, name: str, body: Any, context: ServeContext) -> None:
        answer: dict[str, Any] = {"id": context._id}
        try:
            run = self.handlers.find(kind, name)
            if run is None:
                raise LookupError(f"there is no handler for {name}")
            output = run(body, context)
            json.dumps(output)
            answer.update({"result": "done"}, **({} if output is None else {"output": output}))
        except Exception as error:  # whatever a handler raises is its verdict
            verdict = verdict_of(error)
            answer["result"] = "snooze" if verdict.verb == "release" else "reject" if verdict.permanent else "retry"
            answer.update({"error": verdict.error} if verdict.error is not None else {})
            answer.update({"after_ms": round(verdict.delay * 1000)} if verdict.delay is not None else {})
        del self._running[context._id]
        self._say(answer)

    def _say(self, line: dict[str, Any]) -> None:
        with self._lock:
            self._output.write(json.dumps(line) + "\n")
            self._output.flush()


def _item_of(line: dict[str, Any]) -> tuple[str, str, Any]:
    """What a line is about: its kind, what chooses the handler, and what the handler gets."""
    if "job" in line:
        return "jobs", str(line["job"]["type"]), line["job"]
    if "events" in line:
        return "events", str(line.get("perspective", "")), line["events"]
    if "tool" in line:
        return "tools", str(line["tool"]), line.get("arguments")
    return "messages", str(line["message"]["type"]), line["message"]
