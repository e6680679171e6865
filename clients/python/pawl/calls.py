"""Every call as data: what is sent, and how the answer is read. The clients differ only in how they send it."""
from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import os
import re
import urllib.parse
import uuid
from typing import Any, Callable, Generic, Mapping, Sequence, TypeVar

from .errors import Invalid

T = TypeVar("T")
Row = Mapping[str, Any]
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)


@dataclasses.dataclass(frozen=True)
class Event:
    """An event to append."""

    type: str
    payload: Any = None
    id: str | None = None
    metadata: Mapping[str, Any] | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    traceparent: str | None = None
    publish: bool = False
    topic: str | None = None

    def body(self, key: str) -> dict[str, Any]:
        """Its id makes the call repeatable."""
        return _given({**dataclasses.asdict(self), "payload": {} if self.payload is None else self.payload, "id": self.id or uuid_of(key)})


@dataclasses.dataclass(frozen=True)
class Appended:
    version: int
    first_version: int
    duplicate: bool


@dataclasses.dataclass(frozen=True)
class JobResult:
    """state: ready, running, later, waiting; ended: succeeded, cancelled, dead."""

    id: int
    ended: bool
    state: str
    attempts: int
    output: Any
    error: str | None


@dataclasses.dataclass(frozen=True)
class Call(Generic[T]):
    """One function of the SQL surface, or one route: exactly one of the two is used. wait: how long pawl may take by itself."""

    name: str
    values: Mapping[str, Any]
    read: Callable[[list[Row]], T]
    key: str | None = None
    changes: bool = True
    wait: float = 0


def new_key() -> str:
    return str(uuid.uuid4())


def uuid_of(text: str) -> str:
    """A key of the caller as the UUID that SQL wants; the same text is the same UUID."""
    if _UUID.fullmatch(text):
        return text.lower()
    digits = hashlib.sha256(text.encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class Json:
    """A value that is sent as JSON, also when it is None."""

    value: Any


# ---- SQL: the functions of sql.md. Types are named, so that an argument is what the function takes.

_TYPES = {
    "type": "text", "payload": "json", "stream": "text", "topic": "text", "headers": "json", "correlation_id": "uuid", "causation_id": "uuid",
    "traceparent": "text", "request": "uuid", "consumer": "text", "expected_version": "bigint", "events": "json", "task": "text",
    "queue": "text", "key": "text", "unique_key": "text", "run_at": "timestamptz", "priority": "integer", "max_attempts": "integer",
    "deadline": "timestamptz", "timeout": "interval", "perspective": "text", "version": "bigint", "service": "text", "kinds": "text[]",
    "lease": "interval", "host": "text", "process_id": "integer", "instance": "uuid", "kind": "text", "max": "integer", "tokens": "bigint[]",
    "outputs": "json[]", "progress": "json[]", "errors": "text[]", "permanent": "boolean", "delay": "interval", "token": "bigint", "output": "json",
}


def sql_text(schema: str, call: Call[Any]) -> tuple[str, list[Any]]:
    """The statement with its parameters; every row is one JSON object, so that nothing depends on how a driver reads types."""
    given = _given(call.values)
    jobs = call.name.startswith("job_")
    types = {**_TYPES, "id": "bigint" if jobs else "uuid", "ids": "bigint[]" if jobs else "uuid[]"}
    words = ", ".join(f"{name} => %s::{types[name]}" for name in given)
    return f"SELECT to_json(r) FROM {schema}.{call.name}({words}) AS r", [_parameter(value) for value in given.values()]


def _parameter(value: Any) -> Any:
    if isinstance(value, Json):
        return json.dumps(value.value)
    if isinstance(value, list):
        return [_parameter(one) if isinstance(one, Json) else one for one in value]
    return value


def schema_name(schema: str | None) -> str:
    schema = schema or os.environ.get("PAWL_SCHEMA") or "pawl"
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,50}", schema):
        raise Invalid(f"{schema} is not the name of a schema")
    return schema


def seconds(value: float | None) -> datetime.timedelta | None:
    return None if value is None else datetime.timedelta(seconds=value)


def _first(rows: list[Row]) -> Any:
    return rows[0]


class SqlCalls:
    """Calls of producers and of those who wait, on SQL."""

    @staticmethod
    def send(type: str, payload: Any, options: Mapping[str, Any], key: str) -> Call[str]:
        values = {**options, "type": type, "payload": Json({} if payload is None else payload), "request": uuid_of(key)}
        if values.get("headers") is not None:
            values["headers"] = Json(values["headers"])
        return Call("send", values, lambda rows: str(_first(rows)), key)

    @staticmethod
    def receive(consumer: str, id: str, type: str, payload: Any, options: Mapping[str, Any]) -> Call[str]:
        values = {**options, "consumer": consumer, "id": id, "type": type, "payload": Json({} if payload is None else payload)}
        if values.get("headers") is not None:
            values["headers"] = Json(values["headers"])
        return Call("receive", values, lambda rows: str(_first(rows)), id)

    @staticmethod
    def append(stream: str, events: Sequence[Event], expected: int | None, key: str) -> Call[Appended]:
        bodies = [event.body(f"{key} {number}") for number, event in enumerate(events)]
        values = {"stream": stream, "expected_version": -1 if expected is None else expected, "events": Json(bodies)}
        return Call("append", values, lambda rows: Appended(_first(rows)["version"], _first(rows)["first_version"], _first(rows)["repeated"]), key)

    @staticmethod
    def enqueue(type: str | None, payload: Any, options: Mapping[str, Any], key: str) -> Call[int]:
        values = {**options, "type": type, "payload": None if payload is None else Json(payload), "request": uuid_of(key)}
        return Call("enqueue", values, lambda rows: int(_first(rows)), key)

    @staticmethod
    def cancel(job: int) -> Call[bool]:
        return Call("job_cancel", {"id": job}, lambda rows: bool(_first(rows) == "applied"))

    @staticmethod
    def result(job: int, timeout: float) -> Call[JobResult]:
        def read(rows: list[Row]) -> JobResult:
            row = _first(rows)
            return JobResult(job, row["ended"], row["state"], row["attempts"], row["output"], row["error"])
        return Call("job_wait", {"id": job, "timeout": seconds(timeout)}, read, changes=False, wait=timeout)

    @staticmethod
    def wait_for(perspective: str, stream: str, version: int, timeout: float) -> Call[bool]:
        values = {"perspective": perspective, "stream": stream, "version": version, "timeout": seconds(timeout)}
        return Call("wait_for", values, lambda rows: bool(_first(rows)), changes=False, wait=timeout)


# ---- HTTP: the routes of api.md; the name is "METHOD /path"


def _milliseconds(moment: datetime.datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")


class HttpCalls:
    """The same calls on HTTP."""

    @staticmethod
    def send(type: str, payload: Any, options: Mapping[str, Any], key: str) -> Call[str]:
        body = _given({"type": type, "payload": {} if payload is None else payload, **options})
        body.setdefault("id", uuid_of(key))
        return Call("POST /v1/messages", body, lambda rows: str(_first(rows)["items"][0]["id"]), key)

    @staticmethod
    def receive(consumer: str, id: str, type: str, payload: Any, options: Mapping[str, Any]) -> Call[str]:
        body = _given({"kind": "inbox", "consumer": consumer, "id": id, "type": type, "payload": {} if payload is None else payload, **options})
        return Call("POST /v1/messages", body, lambda rows: str(_first(rows)["items"][0]["answer"]), new_key())

    @staticmethod
    def append(stream: str, events: Sequence[Event], expected: int | None, key: str) -> Call[Appended]:
        bodies = [event.body(f"{key} {number}") for number, event in enumerate(events)]
        body = _given({"events": bodies, "expected": None if expected == -1 else expected})

        def read(rows: list[Row]) -> Appended:
            row = _first(rows)
            return Appended(row["version"], row["first_version"], row["answer"] == "duplicate")
        return Call(f"POST /v1/streams/{_quoted(stream)}/events", body, read, key)

    @staticmethod
    def enqueue(type: str | None, payload: Any, options: Mapping[str, Any], key: str) -> Call[int]:
        rest = dict(options)
        body = _given({"type": type, "params" if rest.get("task") else "payload": payload, "due_ms": _milliseconds(rest.pop("run_at", None)),
                       "deadline_ms": _milliseconds(rest.pop("deadline", None)), **rest})
        return Call("POST /v1/jobs", body, lambda rows: int(_first(rows)["id"]), key)

    @staticmethod
    def cancel(job: int) -> Call[bool]:
        return Call(f"POST /v1/jobs/{job}/cancel", {}, lambda rows: bool(_first(rows)["answer"] != "not found"))

    @staticmethod
    def result(job: int, timeout: float) -> Call[JobResult]:
        def read(rows: list[Row]) -> JobResult:
            row = _first(rows)
            return JobResult(job, row["ended"], row["state"], row["attempts"], row["output"], row["error"])
        return Call(f"GET /v1/jobs/{job}/wait?timeout_ms={max(1, round(timeout * 1000))}", {}, read, changes=False, wait=timeout)

    @staticmethod
    def wait_for(perspective: str, stream: str, version: int, timeout: float) -> Call[bool]:
        query = urllib.parse.urlencode({"stream": stream, "at_version": version, "timeout_ms": max(1, round(timeout * 1000))})
        return Call(f"GET /v1/perspectives/{_quoted(perspective)}/wait?{query}", {}, lambda rows: bool(_first(rows)["applied"]), changes=False,
                    wait=timeout)
