"""What can go wrong, by pawl's own words, and what a handler raises to say what comes next."""
from __future__ import annotations

from typing import ClassVar


class PawlError(Exception):
    """Base of every error of this client; `code` is pawl's word for it."""

    code: ClassVar[str] = "internal"


class Invalid(PawlError):
    code = "invalid"


class NotFound(PawlError):
    code = "not_found"


class Conflict(PawlError):
    code = "conflict"


class Stale(PawlError):
    """The grant or the instance has ended."""

    code = "stale"


class Busy(PawlError):
    """Nothing happened; try again later."""

    code = "busy"


class Unavailable(PawlError):
    """Nothing happened: pawl cannot be reached."""

    code = "unavailable"


class Unknown(PawlError):
    """It may have happened. Repeat the same call with this idempotency key to find out: nothing happens twice."""

    code = "unknown"
    idempotency_key: str | None = None


class Denied(PawlError):
    """The credential or the role does not allow it."""

    code = "denied"


class Internal(PawlError):
    code = "internal"


_BY_CODE = {one.code: one for one in (Invalid, NotFound, Conflict, Stale, Busy, Unavailable, Unknown, Denied, Internal)}


def failure(code: str, message: str) -> PawlError:
    return _BY_CODE.get(code, Internal)(message)


class Retry(Exception):
    """Raised by a handler: try again after the backoff, or after so many seconds. Any other exception means the same."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Reject(Exception):
    """Raised by a handler: failed for good, a dead letter."""


class Snooze(Exception):
    """Raised by a handler: not now; no attempt is counted."""

    def __init__(self, after: float) -> None:
        super().__init__(f"snoozed for {after} s")
        self.after = after
