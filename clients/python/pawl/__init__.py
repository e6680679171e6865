"""The client of pawl for Python: see README.md. SqlClient and AsyncSqlClient need psycopg 3."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .calls import Appended, Event, JobResult
from .client import AsyncClient, Client
from .errors import (Busy, Conflict, Denied, Internal, Invalid, NotFound, PawlError, Reject, Retry, Snooze, Stale, Unavailable, Unknown)
from .http import AsyncHttpClient, HttpClient
from .serve import ServeContext, Server
from .worker import AsyncContext, Context, Item, Signal, Worker

if TYPE_CHECKING:
    from .sql import AsyncSqlClient, SqlClient

__all__ = ["Appended", "AsyncClient", "AsyncContext", "AsyncHttpClient", "AsyncSqlClient", "Busy", "Client", "Conflict", "Context", "Denied", "Event",
           "HttpClient", "Internal", "Invalid", "Item", "JobResult", "NotFound", "PawlError", "Reject", "Retry", "ServeContext", "Server", "Signal",
           "Snooze", "SqlClient", "Stale", "Unavailable", "Unknown", "Worker"]


def __getattr__(name: str) -> Any:
    if name in ("SqlClient", "AsyncSqlClient"):
        from . import sql

        return getattr(sql, name)
    raise AttributeError(f"module pawl has no attribute {name}")
