"""Handlers by the patterns of the types that they are for."""
from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable

from .errors import Reject, Retry, Snooze

Run = Callable[..., Any]


def matcher(pattern: str) -> re.Pattern[str]:
    """Patterns may contain * and ? and ignore case, as those of pawl worker do."""
    return re.compile("".join({"*": ".*", "?": "."}.get(one, re.escape(one)) for one in pattern), re.I | re.S)


class Handlers:
    def __init__(self) -> None:
        self._list: list[tuple[str, re.Pattern[str], Run]] = []

    def add(self, kind: str, pattern: str, run: Run) -> None:
        self._list.append((kind, matcher(pattern), run))

    def find(self, kind: str, type: str) -> Run | None:
        """The first that matches wins."""
        return next((run for of, matches, run in self._list if of == kind and matches.fullmatch(type)), None)

    def kinds(self) -> list[str]:
        return list(dict.fromkeys(kind for kind, _, _ in self._list))


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What comes of an item: complete, fail or release. delay: seconds; None: the backoff."""

    verb: str
    error: str | None = None
    permanent: bool = False
    delay: float | None = None


def verdict_of(error: BaseException) -> Verdict:
    text = (str(error) or type(error).__name__)[:2000]
    if isinstance(error, Snooze):
        return Verdict("release", delay=error.after)
    return Verdict("fail", text, isinstance(error, Reject), error.after if isinstance(error, Retry) else None)
