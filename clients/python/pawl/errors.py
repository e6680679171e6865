"""What can go wrong, by pawl's own words, and what a handler raises to say what comes next."""
from __future__ import annotations

import re
from typing import ClassVar


class PawlError(Exception):
    """Base of every error of this client; `code` is pawl's word for it, which names the class: not_found, NotFound."""

    code: ClassVar[str] = "internal"
    _by_code: ClassVar[dict[str, type[PawlError]]] = {}

    def __init_subclass__(cls) -> None:
        cls.code = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        PawlError._by_code[cls.code] = cls


class Invalid(PawlError):
    """The input is wrong: correct it."""


class NotFound(PawlError):
    """It does not exist."""


class Conflict(PawlError):
    """The state forbids it: look, then decide."""


class Stale(PawlError):
    """The grant or the instance has ended."""


class Busy(PawlError):
    """Nothing happened; try again later."""


class Unavailable(PawlError):
    """Nothing happened: pawl cannot be reached."""


class Unknown(PawlError):
    """It may have happened. Repeat the same call with this idempotency key to find out: nothing happens twice."""

    idempotency_key: str | None = None


class Denied(PawlError):
    """The credential or the role does not allow it."""


class Internal(PawlError):
    """A defect of pawl."""


def failure(code: str, message: str) -> PawlError:
    return PawlError._by_code.get(code, Internal)(message)


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
