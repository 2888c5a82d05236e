"""Holdfast for Python: a client and a worker in one file. Standard library only, Python 3.9 and later.

Install it by copying it next to your program. A client submits runs and waits for them::

    client = Client()                                  # HOLDFAST_URL and HOLDFAST_TOKEN
    result = client.submit_and_wait("forecast", {"region": "AU"})

A worker runs them; it asks the service for work, so it needs no port of its own::

    worker = Worker(queues=["default"], slots=4)

    @worker.model("forecast", parameters={"type": "object"})
    def forecast(parameters, ctx):
        ctx.progress({"done": 1, "of": 10})
        return {"objective": 42}

    if __name__ == "__main__":
        worker.run()

A request is accepted once; a run reaches exactly one terminal state, once; every attempt is recorded; only the current
lease holder's result is ever visible; your code may execute more than once.
"""

from __future__ import annotations

import argparse
import asyncio
import codecs
import contextlib
import email.utils
import errno
import hashlib
import http.client
import importlib
import inspect
import itertools
import json
import logging
import math
import multiprocessing
import multiprocessing.connection
import os
import pickle
import queue
import random
import re
import secrets
import select
import shutil
import signal
import socket
import ssl
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from types import FrameType
from typing import Any, BinaryIO, Callable, List, NamedTuple, TypedDict, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

__all__ = [
    "BatchOutcome",
    "Cancelled",
    "Client",
    "Conflict",
    "Context",
    "CostLimitExceeded",
    "Fatal",
    "HoldfastError",
    "InputFile",
    "InputFileDamaged",
    "InputFileUnavailable",
    "InputFolderFull",
    "MaxRetriesExceeded",
    "QuotaExceeded",
    "Reservation",
    "RetryAfter",
    "RetryError",
    "Run",
    "RunCancelled",
    "RunFailed",
    "Submitted",
    "Timeout",
    "Transient",
    "Upload",
    "Worker",
    "seeded_random",
]

Json = Any
Handler = TypeVar("Handler", bound=Callable[..., Any])

_URL_DEFAULT = "http://localhost:4600"
_log = logging.getLogger("holdfast")


# --- Errors -----------------------------------------------------------------------------------------------------------


class HoldfastError(Exception):
    """The service refused. ``status`` and ``problem`` are None when there was no answer, ``code`` when it did not come
    from the service; the codes are those of its catalogue of errors."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        problem: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.problem = problem


class QuotaExceeded(HoldfastError):
    """A limit that waiting a second does not change; never retried. ``rule`` is the one that bound (whose it is, of
    which model), ``limit`` which of its limits, such as ``max_concurrent``, ``maximum`` and ``used`` how much that is,
    and ``holders`` are some of the runs and reservations that hold it, those that the caller may see."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message, **details)
        told = self.problem or {}
        self.rule: dict[str, Any] | None = told.get("rule")
        self.limit: str | None = told.get("limit")
        self.maximum: float | None = told.get("maximum")
        self.used: float | None = told.get("used")
        self.holders: list[str] = told.get("holders") or []


class CostLimitExceeded(QuotaExceeded):
    """The limit is one of money."""


class Conflict(HoldfastError):
    """409: the key was used for something else, the run has already ended, it has no result yet, …"""


class Transient(HoldfastError):
    """May pass by itself. ``retry_after_seconds``: how long the service asked to be left alone."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after_seconds = retry_after_seconds


class MaxRetriesExceeded(Transient):
    """It did not pass while this client tried. Sent again with ``key``, the call cannot make a second run."""

    def __init__(
        self,
        message: str,
        *,
        attempts: int,
        key: str | None = None,
        run_id: str | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message, **details)
        self.attempts = attempts
        self.key = key
        self.run_id = run_id


class Timeout(MaxRetriesExceeded):
    """No answer in time: the run may exist. Or the run has not ended within the time the caller gave, and goes on."""


class _RunEnded(HoldfastError):
    def __init__(self, message: str, *, run_id: str, run: Run | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.run_id = run_id
        self.run = run


class RunFailed(_RunEnded):
    """The run has no result. ``run`` is None when only its result was asked for."""


class RunCancelled(_RunEnded):
    """Likewise."""


class Fatal(Exception):
    """Raised by a model: ends the run as FAILED at once, because trying again cannot help."""


class RetryAfter(Exception):
    """Raised by a model: fails this attempt and asks for the next one after so many seconds."""

    def __init__(self, seconds: float, message: str | None = None) -> None:
        if not (math.isfinite(seconds) and seconds >= 0):
            raise ValueError(f"RetryAfter needs a delay in seconds of 0 or more, got {seconds}")
        super().__init__(message if message is not None else f"try again in {seconds} s")
        self.seconds = seconds


class RetryError(Exception):
    """A step that was tried as often as its options allow. Another attempt would only try it again, so the run ends as
    FAILED, unless the retry policy of the model names RetryError in ``retry_on``."""

    def __init__(self, step: str, tries: int, last: str, is_final: bool = True) -> None:
        """``last`` is the class and message of the last error."""
        times = "once" if tries == 1 else f"{tries} times"
        super().__init__(f"step {json.dumps(step)} failed {times}; last error: {last}")
        self.step = step
        self.tries = tries
        self.is_final = is_final
        self._last = last

    def __reduce__(self) -> tuple[type[RetryError], tuple[str, int, str, bool]]:
        return RetryError, (self.step, self.tries, self._last, self.is_final)


class InputFileUnavailable(Exception):
    """A file among the parameters could not be had from the service."""


class InputFileDamaged(Exception):
    """What came is not the file that was uploaded."""


class InputFolderFull(Exception):
    """There is no room here for a file among the parameters."""


class Cancelled(BaseException):
    """Raised by ``ctx.check_cancelled()``. Like KeyboardInterrupt it passes through ``except Exception``."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the attempt is to stop: {reason}")
        self.reason = reason

    def __reduce__(self) -> tuple[type[Cancelled], tuple[str]]:
        return Cancelled, (self.reason,)


# --- What travels -----------------------------------------------------------------------------------------------------


class Run(TypedDict):
    """A run as the service shows it. Absent things are None, never missing; times are ISO 8601 in UTC."""

    run_id: str
    model: str
    model_version: str
    status: str
    owner: str
    queue: str
    priority: int
    parameters: Json
    payload_hash: str
    created_at: str
    available_at: str | None
    started_at: str | None
    finished_at: str | None
    attempt_count: int
    max_attempts: int
    attempts: list[dict[str, Any]] | None
    last_error: dict[str, Any] | None
    lease: dict[str, Any] | None
    waiting: dict[str, Any] | None
    cancel_requested_at: str | None
    overdue_since: str | None
    result_ref: str | None
    result_hash: str | None
    batch_id: str | None
    tags: list[str]
    title: str | None
    files: list[dict[str, Any]] | None
    cost: dict[str, Any] | None
    retry_of: str | None
    reproduces: str | None
    links: dict[str, str]


class Upload(TypedDict):
    """A file as it was handed in. ``file_id`` is the SHA-256 of its bytes; ``duplicate``: the owner had handed it in
    before, and ``run_id``, where a model was asked for, is the run that was made then."""

    upload_id: str
    file_id: str
    name: str
    size: int
    type: str
    duplicate: bool
    state: str
    run_id: str | None
    batch_id: str | None
    created_at: str
    links: dict[str, Any]
    quota_warnings: list[str]
    cost_limit_warning: str | None


class Reservation(TypedDict):
    """A place within a quota, held before there is a run. ``state`` is ACTIVE, CONSUMED, RELEASED or EXPIRED; only an
    ACTIVE one holds a place. ``run_id`` is the run that consumed it."""

    reservation_id: str
    owner: str
    model: str | None
    state: str
    cost: float | None
    created_at: str
    expires_at: str
    ended_at: str | None
    run_id: str | None
    links: dict[str, Any]


@dataclass(frozen=True)
class Submitted:
    """``was_duplicate``: an earlier request had made the run, which may have been this very call, sent twice."""

    run: Run
    run_id: str
    was_duplicate: bool
    key: str
    warnings: list[str]


@dataclass(frozen=True)
class BatchOutcome:
    """Of one item: ``submitted`` or ``error``, never both."""

    key: str
    submitted: Submitted | None = None
    error: HoldfastError | None = None

    @property
    def ok(self) -> bool:
        return self.submitted is not None


def _json_text(value: Json) -> str:
    """Only what JSON has: no NaN, no names that are not text (1 and "1" would become the same name)."""
    _require_text_names(value)
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _as_kept(value: Json) -> Json:
    """The value as it comes back from the service, where 3.0 is 3 and a tuple is a list."""
    return _as_whole(json.loads(_json_text(value)))


def _as_whole(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _as_whole(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value


def _require_text_names(value: Json) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise TypeError(f"the name {name!r} in an object is not a str")
            _require_text_names(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _require_text_names(inner)


_UNWANTED = re.compile("[\x00\ud800-\udfff]")


def _clean(text: str, length_max: int, keep_end: bool = False) -> str:
    """Without NUL and lone surrogates, which the service refuses, and no longer than a limit."""
    if len(text) > length_max:
        text = f"[cut] … {text[-length_max:]}" if keep_end else f"{text[:length_max]} … [cut]"
    return _UNWANTED.sub("\ufffd", text)


# --- Transport --------------------------------------------------------------------------------------------------------


class _Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Json:
        return json.loads(self.body) if self.body else None


class _Hold:
    """Lets another thread end a request that the service holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.is_ended = False

    def begin(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if self.is_ended:
                raise ConnectionAbortedError("the request was given up")
            self._socket = connection.sock

    def finish(self) -> None:
        with self._lock:
            self._socket = None

    def end(self) -> None:
        with self._lock:
            self.is_ended = True
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)


class _Transport:
    """Requests over connections that are kept open and shared by threads. Sends once; repeating is for callers."""

    _IDLE_SECONDS_MAX = 30.0

    def __init__(
        self,
        url: str | None,
        token: str | None,
        owner: str | None,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        self.url = (url or os.environ.get("HOLDFAST_URL") or _URL_DEFAULT).rstrip("/")
        token = token or os.environ.get("HOLDFAST_TOKEN") or None
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the url must be http://… or https://…, not {self.url!r}")
        if parts.username or parts.password:
            raise ValueError("give the token as `token`, not inside the url")
        self._host, self._base = parts.hostname, parts.path
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._ssl = (ssl_context or ssl.create_default_context()) if parts.scheme == "https" else None
        self._headers = {"Accept": "application/json", "User-Agent": "holdfast-python"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        if owner:
            self._headers["Holdfast-Owner"] = owner
        for value in self._headers.values():
            if not re.fullmatch(r"[\x20-\x7e]*", value):
                raise ValueError("token and owner are printable ASCII characters")
        self._lock = threading.Lock()
        self._idle: list[tuple[http.client.HTTPConnection, float]] = []
        self._pid = os.getpid()

    def send(
        self,
        method: str,
        path: str,
        *,
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 120.0,
        hold: _Hold | None = None,
    ) -> _Answer:
        """Raises what sockets and http.client raise, and nothing for a status."""
        due = time.monotonic() + timeout
        connection = self._take(timeout)
        try:
            if connection.sock is None:
                connection.connect()
            if hold:
                hold.begin(connection)
            sent = {**self._headers, **(headers or {})}
            if body is not None:
                sent["Content-Type"] = "application/json"
            connection.request(method, self._base + path, None if body is None else body.encode(), sent)
            answer = self._read(connection, due)
        except BaseException:
            connection.close()
            raise
        finally:
            if hold:
                hold.finish()
        if connection.sock is not None:
            with self._lock:
                self._idle.append((connection, time.monotonic()))
        return answer

    @contextlib.contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *,
        body: Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 120.0,
    ) -> Iterator[http.client.HTTPResponse]:
        """Bodies of any size, over a connection of its own; the timeout is of each piece."""
        connection = self._connection(timeout)
        try:
            connection.putrequest(method, self._base + path, skip_accept_encoding=True)
            sent = {**self._headers, **(headers or {})}
            is_chunked = body is not None and "Content-Length" not in sent
            if is_chunked:
                sent["Transfer-Encoding"] = "chunked"
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                # Who is refused in the middle of a body finds the reason in the answer.
                for piece in body or ():
                    connection.send(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
                if is_chunked:
                    connection.send(b"0\r\n\r\n")
            yield connection.getresponse()
        finally:
            connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _take(self, timeout: float) -> http.client.HTTPConnection:
        with self._lock:
            if self._pid != os.getpid():
                # A forked child must not talk over the sockets of its parent.
                self._idle, self._pid = [], os.getpid()
            while self._idle:
                connection, since = self._idle.pop()
                if time.monotonic() - since < self._IDLE_SECONDS_MAX and _is_quiet(connection.sock):
                    connection.timeout = timeout
                    connection.sock.settimeout(timeout)
                    return connection
                connection.close()
        return self._connection(timeout)

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._ssl:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._ssl)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    @staticmethod
    def _read(connection: http.client.HTTPConnection, due: float) -> _Answer:
        # A socket's timeout is for one read; an answer that trickles would outlive the deadline of the whole.
        connection.sock.settimeout(max(0.01, due - time.monotonic()))
        response = connection.getresponse()
        pieces: list[bytes] = []
        while True:
            left = due - time.monotonic()
            if left <= 0:
                raise socket.timeout("the answer did not end in time")
            if connection.sock is not None:
                connection.sock.settimeout(left)
            piece = response.read(65_536)
            if not piece:
                break
            pieces.append(piece)
        return _Answer(response.status, response.headers, b"".join(pieces))


def _is_quiet(sock: socket.socket | None) -> bool:
    """An idle connection with something to read has been closed by the other side."""
    if sock is None:
        return False
    try:
        readable, _, broken = select.select([sock], [], [sock], 0)
    except (OSError, ValueError):
        return False
    return not readable and not broken


_PASSING = (429, 502, 503, 504)


def _refusal(answer: _Answer, url: str, path: str) -> HoldfastError:
    """The error for an answer that is no success. The code decides before the status does."""
    status = answer.status
    if 300 <= status < 400:
        where = answer.headers.get("Location") or "somewhere else"
        return HoldfastError(f"The service at {url} redirects to {where}; use that address.", status=status)
    text = answer.body.decode("utf-8", "replace")
    problem = _problem_in(text)
    code: str | None = problem["code"] if problem else None
    message = _message_of(problem) if problem else f"The answer was {status}: {text.strip()[:200]}"
    details: dict[str, Any] = {"status": status, "code": code, "problem": problem}
    found = re.match(r"/runs/([^/?]+)", path)
    run_id = found.group(1) if found else ""
    if code == "quota-exceeded":
        return QuotaExceeded(message, **details)
    if code == "cost-limit-exceeded":
        return CostLimitExceeded(message, **details)
    if code == "run-failed":
        return RunFailed(message, run_id=run_id, **details)
    if code == "run-cancelled":
        return RunCancelled(message, run_id=run_id, **details)
    if status == 409:
        return Conflict(message, **details)
    if status in _PASSING:
        return Transient(message, retry_after_seconds=_wait_asked(answer.headers.get("Retry-After")), **details)
    return HoldfastError(message, **details)


def _problem_in(text: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict):
        return None
    return parsed if isinstance(parsed.get("code"), str) and isinstance(parsed.get("detail"), str) else None


def _message_of(problem: dict[str, Any]) -> str:
    places = [f"{error.get('pointer')}: {error.get('detail')}" for error in problem.get("errors") or []]
    return "; ".join([f"{problem['detail']} ({problem['code']})", *places])


def _wait_asked(header: str | None) -> float | None:
    """``Retry-After`` is a number of seconds or a date."""
    if header is None:
        return None
    if re.fullmatch(r"\s*\d+\s*", header):
        return float(header)
    try:
        at = email.utils.parsedate_to_datetime(header)
    except (TypeError, ValueError, IndexError):
        return None
    return max(0.0, at.timestamp() - time.time())


# --- Client -----------------------------------------------------------------------------------------------------------

_RETRIES_MAX = 3
_FIRST_DELAY_SECONDS = 1.0
_DELAY_SECONDS_MAX = 120.0
_HELD_SECONDS_MAX = 60
_POLL_SECONDS = 1.0
_PAGE_SIZE = 200
_BATCH_ITEMS_MAX = 1_000
_BATCH_BYTES_MAX = 15 * 1024 * 1024
_WHOLE_FILTERS = ("created_after", "created_before", "text", "not_text", "order")
_SUBMIT_OPTIONS = (
    "idempotency_key",
    "idempotency_ttl_seconds",
    "dedupe",
    "model_version",
    "derived_from",
    "queue",
    "priority",
    "available_at",
    "tags",
    "title",
    "batch_id",
    "reservation_id",
    "concurrency",
    "executor",
    "max_attempts",
    "timeout_seconds",
)


class _Item(NamedTuple):
    text: str
    key: str
    place: int


class Client:
    """Submits runs and follows them. Safe to share between threads.

    A request that timed out, lost its connection, or was answered 429, 502, 503 or 504 is sent again after 1, 2 and 4
    seconds, later when ``Retry-After`` says so, the same to the byte and with the same idempotency key.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        owner: str | None = None,
        *,
        timeout_seconds: float = 120.0,
        upload_timeout_seconds: float = 300.0,
        retries: int = _RETRIES_MAX,
        on_warning: Callable[[str, Submitted], None] | None = None,
        ssl_context: ssl.SSLContext | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``url`` and ``token`` come from HOLDFAST_URL and HOLDFAST_TOKEN when not given. ``owner``: for whom to act,
        which with tokens only operators and administrators may. Timeouts are of one request, of which a call may send
        several."""
        self._transport = _Transport(url, token, owner, ssl_context)
        self._timeout = timeout_seconds
        self._upload_timeout = upload_timeout_seconds
        self._retries = retries
        self._on_warning = on_warning
        self._sleep = sleep

    @property
    def url(self) -> str:
        return self._transport.url

    def submit(
        self,
        model: str,
        parameters: Mapping[str, Json] | None = None,
        *,
        idempotency_key: str | None = None,
        idempotency_ttl_seconds: float | None = None,
        dedupe: str | None = None,
        model_version: str | None = None,
        derived_from: str | None = None,
        queue: str | None = None,
        priority: int | None = None,
        available_at: datetime | str | None = None,
        tags: Sequence[str] | None = None,
        title: str | None = None,
        batch_id: str | None = None,
        reservation_id: str | None = None,
        concurrency: Mapping[str, Any] | None = None,
        executor: str | None = None,
        max_attempts: int | None = None,
        timeout_seconds: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Submitted:
        """One call, one key, one run, however often it is sent. The key is made for the call when not given; calls with
        the same key make one run, whoever sends them, while the key lives. ``timeout_seconds`` is of an attempt.
        ``concurrency``, such as ``{"key": "customer-1", "limit": 1, "mode": "queue"}``, limits the active runs of a key."""
        given = {name: value for name, value in locals().items() if name in _SUBMIT_OPTIONS}
        body = _submit_body(model, parameters, given)
        key = str(body["idempotency_key"])
        run = self._call("POST", "/runs", body=_json_text(body), headers=headers, key=key)
        return self._warned(_submitted(run, key))

    def submit_and_wait(
        self,
        model: str,
        parameters: Mapping[str, Json] | None = None,
        *,
        wait_seconds: float | None = None,
        **options: Any,
    ) -> Json:
        """The result. RunFailed or RunCancelled when there is none; Timeout when ``wait_seconds`` is given and over.
        Other options as in `submit`."""
        since = time.monotonic()
        held = self._prefer_wait(wait_seconds)
        submitted = self.submit(model, parameters, headers=held, **options)
        run = self._end_of(submitted.run_id, wait_seconds, since, submitted.run, submitted.key)
        _require_success(run)
        return self.result(submitted.run_id)

    def batch(self, items: Iterable[Mapping[str, Any]]) -> List[BatchOutcome]:
        """Any number of runs, in requests of at most 1,000; one outcome per item, in their order. An item has
        ``model``, ``parameters`` and the options of `submit`. A refused item is an outcome, not an exception."""
        prepared = [_batch_item(item, index) for index, item in enumerate(items)]
        outcomes: dict[int, BatchOutcome] = {}
        outage: HoldfastError | None = None
        for chunk in _chunks(prepared):
            # What could not be told to the service now will not be heard a moment later: the rest is not even tried.
            found = [BatchOutcome(item.key, error=outage) for item in chunk] if outage else self._send_chunk(chunk)
            outcomes.update({item.place: outcome for item, outcome in zip(chunk, found)})
            lost = [one.error for one in found if isinstance(one.error, MaxRetriesExceeded)]
            outage = outage or (lost[0] if lost else None)
        ordered = [outcomes[index] for index in range(len(prepared))]
        for outcome in ordered:
            if outcome.submitted:
                self._warned(outcome.submitted)
        return ordered

    def get(self, run_id: str) -> Run:
        return cast(Run, self._call("GET", _run_path(run_id)))

    def wait(self, run_id: str, *, wait_seconds: float | None = None) -> Run:
        """The run as it ended, well or not. Timeout when ``wait_seconds`` is given and over; the run goes on."""
        return self._end_of(run_id, wait_seconds, time.monotonic(), None, None)

    def result(self, run: str | Submitted) -> Json:
        """Conflict while it has not ended, RunFailed or RunCancelled when it never will have one."""
        return self._call("GET", f"{_run_path(run if isinstance(run, str) else run.run_id)}/result")

    def cancel(self, run_id: str) -> Run:
        """A waiting run ends at once; a running one is asked to, and ``cancel_requested_at`` says since when."""
        return cast(Run, self._call("POST", f"{_run_path(run_id)}/cancel", body="{}"))

    def approve(self, run_id: str, *, reason: str | None = None) -> Run:
        """For operators: lets a run go that waits for approval. Saying so again changes nothing."""
        return self._decide(run_id, "approve", reason)

    def reject(self, run_id: str, *, reason: str | None = None) -> Run:
        """For operators: cancels a run that waits for approval."""
        return self._decide(run_id, "reject", reason)

    def _decide(self, run_id: str, verb: str, reason: str | None) -> Run:
        body = _json_text({} if reason is None else {"reason": reason})
        return cast(Run, self._call("POST", f"{_run_path(run_id)}/{verb}", body=body))

    def retry(self, run_id: str, *, idempotency_key: str | None = None) -> Submitted:
        """A new run of the same input; while one is active, that one."""
        key = _checked_key(idempotency_key) if idempotency_key is not None else _new_key()
        headers = {"Idempotency-Key": _quoted(key)}
        run = self._call("POST", f"{_run_path(run_id)}/retry", body="{}", headers=headers, key=key)
        return self._warned(_submitted(run, key))

    def reserve(
        self, *, ttl_seconds: int | None = None, cost: float | None = None, model: str | None = None
    ) -> Reservation:
        """Holds a place within the quota before there is a run, for 300 seconds when not told otherwise; QuotaExceeded
        when there is none. Give its ``reservation_id`` to `submit` or `upload`, or to `release`. Each call has a key of
        its own, so that sent again it holds one place."""
        asked = {"ttl_seconds": ttl_seconds, "cost": cost, "model": model}
        body = _json_text({name: value for name, value in asked.items() if value is not None})
        headers = {"Idempotency-Key": _quoted(_new_key())}
        return cast(Reservation, self._call("POST", "/reservations", body=body, headers=headers))

    def release(self, reservation: str | Reservation) -> Reservation:
        """Gives the place back at once. Releasing again changes nothing."""
        given = reservation if isinstance(reservation, str) else reservation["reservation_id"]
        return cast(Reservation, self._call("DELETE", f"/reservations/{quote(given, safe='')}"))

    def list(self, **filters: str | int | Sequence[str] | datetime | None) -> Iterator[Run]:
        """All pages, newest first unless ``order`` says otherwise. The names are those of ``GET /runs``:
        ``client.list(status=["FAILED"], not_tag="test", text="nightly")``."""
        pairs = _filter_pairs(filters)
        cursor: str | None = None
        while True:
            asked = pairs if cursor is None else [*pairs, ("cursor", cursor)]
            page = self._call("GET", f"/runs?{urlencode(asked)}")
            yield from page["data"]
            # A page may be short or even empty and still not be the last.
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def upload(
        self,
        source: str | os.PathLike[str] | BinaryIO,
        model: str | None = None,
        parameters: Mapping[str, Json] | None = None,
        batch: str | None = None,
        name: str | None = None,
        *,
        model_version: str | None = None,
        title: str | None = None,
        reservation_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Upload:
        """Hands a file in, piece by piece, whatever its size: a path, or something open for reading bytes. With
        ``model`` its run is created with it; ``parameters`` are the others of the run. Files that name the same
        ``batch``, a UUID, belong together. The run takes the place that ``reservation_id`` holds.

        Sent again after a fault, as every call, from where the source began; one that cannot go back is sent once.
        """
        key = _new_key() if idempotency_key is None else _checked_key(idempotency_key)
        opened: BinaryIO = open(source, "rb") if isinstance(source, (str, os.PathLike)) else source
        try:
            given = name if name is not None else os.path.basename(str(getattr(opened, "name", "") or "")) or "file"
            asked = {"name": given, "model": model, "model_version": model_version, "batch": batch, "title": title}
            asked["reservation_id"] = reservation_id
            query = {one: value for one, value in asked.items() if value is not None}
            if parameters is not None:
                query["parameters"] = _json_text(dict(parameters))
            return self._upload(opened, f"/files?{urlencode(query)}", key)
        finally:
            if opened is not source:
                opened.close()

    def download(self, file_id: str, to: str | os.PathLike[str] | BinaryIO) -> None:
        """Writes a file to a path or to something open for writing bytes. A path holds all of it, checked by its
        SHA-256, or is not touched."""
        if not isinstance(to, (str, os.PathLike)):
            self._fetch(file_id, to)
            return
        partial = f"{os.fspath(to)}.{secrets.token_hex(4)}.part"
        try:
            with open(partial, "xb") as target:
                self._fetch(file_id, target)
            os.replace(partial, to)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial)
            raise

    def close(self) -> None:
        """Closes idle connections; the client can still be used."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(
        self,
        method: str,
        path: str,
        *,
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Json:
        """Every call of this client may be sent again: doing it twice is doing it once."""
        timeout = self._timeout if timeout is None else timeout
        is_unknown = False
        for attempts in itertools.count(1):
            fault = self._try(method, path, body, headers, timeout)
            if not isinstance(fault, Exception):
                return fault.value
            refused = fault if isinstance(fault, HoldfastError) else None
            is_unknown = is_unknown or refused is None or refused.status in (502, 504)
            delay = _retry_delay(fault, attempts - 1, self._retries)
            if delay is None:
                if refused is not None and not isinstance(refused, Transient):
                    raise refused
                told = is_unknown and key is not None
                raise _given_up(f"{method} {path}", fault, attempts, timeout, key, told) from fault
            self._sleep(delay)
        raise AssertionError

    def _try(
        self, method: str, path: str, body: str | None, headers: Mapping[str, str] | None, timeout: float
    ) -> _Value | Exception:
        try:
            answer = self._transport.send(method, path, body=body, headers=headers, timeout=timeout)
        except (OSError, http.client.HTTPException) as fault:
            return fault
        if not 200 <= answer.status < 300:
            return _refusal(answer, self.url, path)
        try:
            return _Value(answer.json())
        except ValueError:
            message = f"{method} {path} was answered {answer.status}, but not in JSON; is {self.url} the service?"
            return HoldfastError(message, status=answer.status)

    def _upload(self, source: BinaryIO, path: str, key: str) -> Upload:
        start = source.tell() if source.seekable() else None
        headers = {"Content-Type": "application/octet-stream", "Idempotency-Key": _quoted(key)}
        if start is not None:
            headers["Content-Length"] = str(max(0, source.seek(0, os.SEEK_END) - start))
        for attempts in itertools.count(1):
            if start is not None:
                source.seek(start)
            fault: Exception
            try:
                with self._transport.stream(
                    "POST", path, body=_pieces_of(source), headers=headers, timeout=self._upload_timeout
                ) as response:
                    answer = _Answer(response.status, response.headers, response.read())
                if 200 <= answer.status < 300:
                    return cast(Upload, answer.json()["data"][0])
                fault = _refusal(answer, self.url, path)
            except (OSError, http.client.HTTPException) as error:
                fault = error
            delay = None if start is None else _retry_delay(fault, attempts - 1, self._retries)
            if delay is None:
                if isinstance(fault, HoldfastError) and not isinstance(fault, Transient):
                    raise fault
                raise _given_up("POST /files", fault, attempts, self._upload_timeout, key, False) from fault
            self._sleep(delay)
        raise AssertionError

    def _fetch(self, file_id: str, target: BinaryIO) -> None:
        start = target.tell() if target.seekable() else None
        path = f"/files/{quote(file_id, safe='')}"
        for attempts in itertools.count(1):
            fault: Exception
            try:
                with self._transport.stream("GET", path, timeout=self._timeout) as response:
                    if response.status == 200:
                        _copy_checked(response, target, file_id)
                        return
                    fault = _refusal(_Answer(response.status, response.headers, response.read()), self.url, path)
            except (http.client.HTTPException, OSError, InputFileDamaged) as error:
                if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                    raise
                fault = error
            delay = None if start is None else _retry_delay(fault, attempts - 1, self._retries)
            if delay is None:
                if isinstance(fault, HoldfastError) and not isinstance(fault, Transient):
                    raise fault
                raise _given_up(f"GET {path}", fault, attempts, self._timeout, None, False) from fault
            self._sleep(delay)
            target.seek(cast(int, start))
            target.truncate()
        raise AssertionError

    def _prefer_wait(self, left: float | None) -> dict[str, str]:
        """Such that the answer still comes well before the request times out."""
        held = self._timeout / 2 if left is None else min(left, self._timeout / 2)
        seconds = min(_HELD_SECONDS_MAX, math.floor(held))
        return {"Prefer": f"wait={seconds}"} if seconds >= 1 else {}

    def _end_of(self, run_id: str, wait_seconds: float | None, since: float, run: Run | None, key: str | None) -> Run:
        while run is None or not run["finished_at"]:
            asked = time.monotonic()
            left = None if wait_seconds is None else since + wait_seconds - asked
            if run is not None and left is not None and left <= 0:
                again = "ask again with its id" if key is None else f"ask again with key {key}"
                message = f"run {run_id} is still {run['status']} after {wait_seconds:g} s and goes on: {again}"
                raise Timeout(message, attempts=1, run_id=run_id, key=key)
            headers = self._prefer_wait(None if left is None else max(0.0, left))
            run = cast(Run, self._call("GET", _run_path(run_id), headers=headers))
            rest = _POLL_SECONDS - (time.monotonic() - asked)
            if not run["finished_at"] and rest > 0:
                self._sleep(rest if left is None else min(rest, max(0.0, left)))
        return run

    def _send_chunk(self, chunk: List[_Item]) -> List[BatchOutcome]:
        outcomes = self._send_items(chunk)
        # Items may be refused for the moment while others of the same request are accepted.
        for retries_done in itertools.count():
            again = [place for place, one in enumerate(outcomes) if type(one.error) is Transient]
            if not again:
                return outcomes
            delay = _retry_delay(cast(Exception, outcomes[again[0]].error), retries_done, self._retries)
            if delay is None:
                return outcomes
            self._sleep(delay)
            for place, outcome in zip(again, self._send_items([chunk[place] for place in again])):
                outcomes[place] = outcome
        raise AssertionError

    def _send_items(self, items: List[_Item]) -> List[BatchOutcome]:
        body = '{"runs":[%s]}' % ",".join(item.text for item in items)
        try:
            answer = self._call("POST", "/runs/batch", body=body, timeout=self._upload_timeout)
        except HoldfastError as error:
            return [BatchOutcome(item.key, error=error) for item in items]
        data = answer["data"]
        return [_outcome_of(data[place] if place < len(data) else {}, item.key) for place, item in enumerate(items)]

    def _warned(self, submitted: Submitted) -> Submitted:
        for warning in submitted.warnings:
            if self._on_warning:
                self._on_warning(warning, submitted)
        return submitted


class _Value(NamedTuple):
    value: Json


def _submit_body(model: str, parameters: Mapping[str, Json] | None, options: Mapping[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "parameters": dict(parameters or {})}
    body.update({name: value for name, value in options.items() if value is not None})
    key = options.get("idempotency_key")
    body["idempotency_key"] = _new_key() if key is None else _checked_key(key)
    if isinstance(body.get("available_at"), datetime):
        body["available_at"] = _moment(body["available_at"])
    return body


def _submitted(run: Json, key: str) -> Submitted:
    cost = run.get("cost_limit_warning")
    given = [*(run.get("quota_warnings") or []), *([] if cost is None else [cost])]
    warnings = [warning if isinstance(warning, str) else json.dumps(warning) for warning in given]
    return Submitted(cast(Run, run), run["run_id"], bool(run["idempotent_hit"]), key, warnings)


def _batch_item(item: Mapping[str, Any], index: int) -> _Item:
    unknown = set(item) - {"model", "parameters", *_SUBMIT_OPTIONS}
    if unknown:
        raise TypeError(f"item {index} has an unknown option: {sorted(unknown)[0]}")
    options = {name: value for name, value in item.items() if name in _SUBMIT_OPTIONS}
    body = _submit_body(item["model"], item.get("parameters"), options)
    return _Item(_json_text(body), body["idempotency_key"], index)


def _chunks(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    chunk: list[_Item] = []
    size = 0
    for item in items:
        length = len(item.text) + 1  # ASCII: the JSON text escapes everything else.
        if chunk and (len(chunk) == _BATCH_ITEMS_MAX or size + length > _BATCH_BYTES_MAX):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += length
    if chunk:
        yield chunk


def _outcome_of(answer: Mapping[str, Any], key: str) -> BatchOutcome:
    status = int(answer.get("status", 500))
    if status < 300 and answer.get("run"):
        return BatchOutcome(key, submitted=_submitted(answer["run"], key))
    problem = json.dumps(answer.get("problem")).encode()
    return BatchOutcome(key, error=_refusal(_Answer(status, http.client.HTTPMessage(), problem), "", "/runs/batch"))


def _retry_delay(fault: Exception, retries_done: int, retries_max: int) -> float | None:
    """None: do not send it again."""
    if retries_done >= retries_max:
        return None
    delay = _FIRST_DELAY_SECONDS * float(2**retries_done)
    if not isinstance(fault, HoldfastError):
        return delay
    if not isinstance(fault, Transient):
        return None
    asked = max(delay, fault.retry_after_seconds or 0.0)
    # Who is asked to stay away for longer should say so to the caller, not sit there.
    return asked if asked <= _DELAY_SECONDS_MAX else None


def _given_up(
    what: str, fault: Exception, attempts: int, timeout: float, key: str | None, may_exist: bool
) -> MaxRetriesExceeded:
    hint = f"; the run may exist: ask again with key {key}" if may_exist else ""
    count = "" if attempts == 1 else f" {attempts} times"
    if isinstance(fault, (TimeoutError, socket.timeout)):
        times = f",{count}" if count else ""
        return Timeout(f"{what} got no answer within {timeout:g} s{times}{hint}", attempts=attempts, key=key)
    if isinstance(fault, Transient):
        return MaxRetriesExceeded(
            f"{what} was refused{count}: {fault}{hint}",
            attempts=attempts,
            key=key,
            status=fault.status,
            code=fault.code,
            problem=fault.problem,
            retry_after_seconds=fault.retry_after_seconds,
        )
    return MaxRetriesExceeded(
        f"{what} failed{count}: {fault or type(fault).__name__}{hint}", attempts=attempts, key=key
    )


def _require_success(run: Run) -> None:
    run_id, error = run["run_id"], run["last_error"]
    if run["status"] == "CANCELLED":
        raise RunCancelled(f"run {run_id} was cancelled", code="run-cancelled", run_id=run_id, run=run)
    if run["status"] == "FAILED":
        why = f": {error['class']}: {error['message']} (attempt {error['attempt']})" if error else ""
        raise RunFailed(f"run {run_id} failed{why}", code="run-failed", run_id=run_id, run=run)


def _filter_pairs(filters: Mapping[str, Any]) -> list[tuple[str, str]]:
    """In values of most names a comma parts two values, so one inside a value is escaped."""
    pairs: list[tuple[str, str]] = [] if "limit" in filters else [("limit", str(_PAGE_SIZE))]
    for name, value in filters.items():
        if value is None:
            continue
        values = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
        for one in values:
            text = _moment(one) if isinstance(one, datetime) else str(one)
            pairs.append((name, text if name in _WHOLE_FILTERS else text.replace(",", "\\,")))
    return pairs


def _run_path(run_id: str) -> str:
    return f"/runs/{quote(run_id, safe='')}"


def _moment(at: datetime) -> str:
    return at.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def _new_key() -> str:
    return f"client-{secrets.token_hex(16)}"


def _quoted(key: str) -> str:
    escaped = re.sub(r'(["\\])', r"\\\1", key)
    return f'"{escaped}"'


_PIECE_BYTES = 256 * 1024


def _pieces_of(source: BinaryIO) -> Iterator[bytes]:
    while True:
        piece = source.read(_PIECE_BYTES)
        if not piece:
            return
        yield piece


def _copy_checked(
    response: http.client.HTTPResponse, target: BinaryIO, file_id: str, look: Callable[[], None] = lambda: None
) -> None:
    """Raises InputFileDamaged when the bytes are not those of the file, which ``file_id``, their SHA-256, tells."""
    digest = hashlib.sha256()
    while True:
        look()
        piece = response.read(_PIECE_BYTES)
        if not piece:
            break
        digest.update(piece)
        target.write(piece)
    target.flush()
    if digest.hexdigest() != file_id:
        raise InputFileDamaged(f"what came is not the file {file_id}: it ended early or was changed on the way")


def _checked_key(key: str) -> str:
    if not re.fullmatch(r"[\x20-\x7e]{1,255}", key):
        raise ValueError("an idempotency key has 1 to 255 printable ASCII characters")
    return key


# --- What a model gets ------------------------------------------------------------------------------------------------


def seeded_random(seed: int, stream: int) -> Callable[[], float]:
    """Numbers uniform in [0, 1), the same ones as `seededRandom` of the TypeScript package draws: sfc32, 53 bits."""
    a, b, c, counter = seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF, stream & 0xFFFFFFFF, 1

    def draw() -> int:
        nonlocal a, b, c, counter
        total = (a + b + counter) & 0xFFFFFFFF
        counter = (counter + 1) & 0xFFFFFFFF
        a = b ^ (b >> 9)
        b = (c + (c << 3)) & 0xFFFFFFFF
        c = ((((c << 21) | (c >> 11)) & 0xFFFFFFFF) + total) & 0xFFFFFFFF
        return total

    for _ in range(20):
        draw()
    return lambda: float((draw() >> 5) * 2**26 + (draw() >> 6)) / float(2**53)


_PROGRESS_CHARS_MAX = 16 * 1024
_COST_MAX = 1_000_000_000
_LOG_LINE_CHARS_MAX = 8 * 1024

Report = Callable[[str, Any], None]
Commit = Callable[[Mapping[str, Any]], None]
Fetch = Callable[[str], str]
Output = TypeVar("Output")
Item = TypeVar("Item")
_STEP_NAME_CHARS_MAX = 128
_MAP_NAME_CHARS_MAX = 120
_STEP_ITEMS_MAX = 100_000
_WAIT_INSIDE_SECONDS_MAX = 30.0
"""A longer wait that a step asks for by RetryAfter is made by the run: its attempt ends, the next goes on."""


def _checked_step_name(name: str, chars_max: int = _STEP_NAME_CHARS_MAX) -> str:
    if not re.fullmatch(r"[\x20-\x7e]+", name) or len(name) > chars_max:
        raise ValueError(f"the name of a step has 1 to {chars_max} printable ASCII characters")
    if re.search(r".\[(0|[1-9]\d{0,8})\]\Z", name):
        raise ValueError("the name of a step does not end in a number in brackets, which names an item of a map")
    return name


class InputFile:
    """A file among the parameters. Its bytes are fetched, and checked, when they are first asked for."""

    def __init__(self, facts: Mapping[str, Any], fetch: Fetch) -> None:
        self.parameter: str = facts["parameter"]
        """The JSON pointer to it among the parameters, such as ``/document`` or ``/pages/2``."""
        self.file_id: str = facts["file_id"]
        self.name: str = facts["name"]
        """As people called it. Not to be used as a path."""
        self.size: int = facts["size"]
        self.type: str = facts["type"]
        self._fetch = fetch

    @property
    def path(self) -> str:
        """A local copy, good until the attempt ends; to be read only."""
        return self._fetch(self.file_id)

    def open(self) -> BinaryIO:
        return open(self.path, "rb")

    def read(self) -> bytes:
        with self.open() as file:
            return file.read()


@dataclass(frozen=True)
class _StepPolicy:
    retries: int
    delay_seconds: float
    factor: float
    max_delay_seconds: float
    retry_on: Sequence[str] | None
    no_retry_on: Sequence[str]

    def tries_again(self, tries: int, name: str) -> bool:
        return (
            tries <= self.retries
            and not _is_named(name, self.no_retry_on)
            and (self.retry_on is None or _is_named(name, self.retry_on))
        )

    def delay_after(self, tries: int) -> float:
        delay = min(self.delay_seconds * self.factor ** min(tries - 1, 100), self.max_delay_seconds)
        return delay * (1 - 0.1 * random.random())


def _is_named(error_class: str, names: Sequence[str]) -> bool:
    return any(error_class == name or error_class.endswith(f".{name}") for name in names)


def _step_policy(
    retries: int = 3,
    *,
    delay_seconds: float = 0.2,
    factor: float = 4.0,
    max_delay_seconds: float = 10.0,
    retry_on: Sequence[str] | None = None,
    no_retry_on: Sequence[str] = (),
) -> _StepPolicy:
    if retries < 0 or delay_seconds < 0 or factor < 1 or max_delay_seconds < 0:
        raise ValueError("retries and delays of a step are 0 or more, and the factor is 1 or more")
    return _StepPolicy(retries, delay_seconds, factor, max_delay_seconds, retry_on, no_retry_on)


class Context:
    """``ctx``, the second argument of a model. What it reports after the attempt has ended is dropped."""

    def __init__(
        self, facts: Mapping[str, Any], report: Report, commit: Commit | None = None, fetch: Fetch | None = None
    ) -> None:
        self.run_id: str = facts["run_id"]
        self.attempt: int = facts["attempt"]
        """1 for the first attempt of the run."""
        self.model: str = facts["model"]
        self.model_version: str = facts["model_version"]
        self.seed: int = facts["seed"]
        """The same in each attempt of the run, and in every run of the same input."""
        self.deadline: datetime | None = facts["deadline"]
        """When the attempt has to be over."""
        self.cancelled = threading.Event()
        """Set when the work is to stop; ``cancel_reason`` says why."""
        self.cancel_reason: str | None = None
        """``cancelled``, ``timeout``, ``lease-lost`` or ``shutdown``."""
        self._report = report
        self._commit = commit
        self._steps: dict[str, Json] = dict(facts.get("steps") or {})
        self.files: list[InputFile] = [InputFile(one, fetch or _no_file) for one in facts.get("files") or []]
        """The files among the parameters."""
        self._is_final = bool(facts.get("retry_error_is_final", True))
        self._usage = _Usage() if facts.get("is_alone") else None
        self._draw: Callable[[], float] | None = None

    def check_cancelled(self) -> None:
        """Raises Cancelled when the work is to stop. Call it often."""
        if self.cancelled.is_set():
            raise Cancelled(self.cancel_reason or "cancelled")

    def sleep(self, seconds: float) -> None:
        """Raises Cancelled as soon as the work is to stop."""
        self.cancelled.wait(seconds)
        self.check_cancelled()

    def progress(self, value: Json) -> None:
        """The latest value is shown while the attempt runs: any JSON, such as ``{"done": 3, "of": 10}``. Cheap."""
        try:
            text = _json_text(value)
        except (TypeError, ValueError, RecursionError) as error:
            self.log(f"progress left out: {error}", "warn")
            return
        if len(text) > _PROGRESS_CHARS_MAX:
            self.log(f"progress left out: it is longer than {_PROGRESS_CHARS_MAX} characters of JSON", "warn")
            return
        self._report("progress", json.loads(text))

    def cost(self, amount: float) -> None:
        """What this attempt has cost so far, for models with a cost; the latest value counts."""
        is_number = isinstance(amount, (int, float)) and not isinstance(amount, bool)
        if not is_number or not 0 <= amount <= _COST_MAX:
            raise ValueError(f"cost: {amount!r} must be a number from 0 to {_COST_MAX}")
        self._report("cost", amount)

    def file(self, parameter: str) -> InputFile:
        """The one file of a parameter; raises Fatal when it has none, or several."""
        pointer = "/" + parameter.replace("~", "~0").replace("/", "~1")
        found = [one for one in self.files if one.parameter == pointer or one.parameter.startswith(f"{pointer}/")]
        if len(found) == 1:
            return found[0]
        if found:
            raise Fatal(f"the parameter {parameter} has {len(found)} files; take them from ctx.files")
        others = ", ".join(sorted({one.parameter for one in self.files})[:20])
        where = f"files are at {others}" if others else "the run has none"
        raise Fatal(f"the parameter {parameter} has no file; {where}")

    def step(self, name: str, function: Callable[[], Output], retries: int = 3, **options: Any) -> Output:
        """What the function returns, which is any JSON; kept for good before this returns. When the run has the step of
        that name already, by this attempt or an earlier one, the function is not called: the kept output is returned.

        What it raises is tried again where it stands, ``retries`` times, then raised as a RetryError, which ends the
        run. Not tried again are Fatal and a RetryAfter of more than 30 seconds. Options: ``delay_seconds`` before the
        first repeat (0.2), ``factor`` from one to the next (4), ``max_delay_seconds`` (10), and the names of error
        classes in ``retry_on`` (all) and ``no_retry_on``.

        What was called just before a crash, and not kept, is called again. Raises Cancelled when the work is to stop.
        """
        return self._step(_checked_step_name(name), function, _step_policy(retries, **options))

    def map(
        self,
        name: str,
        items: Iterable[Item],
        function: Callable[[Item], Output],
        concurrency: int = 4,
        **options: Any,
    ) -> List[Output]:
        """The outputs of the function for all items, in their order; ``concurrency`` of them at once, in threads. Each
        is a step of its own, named ``name[0]``, ``name[1]``, …; options as of `step`.

        After the first failure nothing more is begun; what is under way is waited for, then it is raised.
        """
        _checked_step_name(name, _MAP_NAME_CHARS_MAX)
        policy = _step_policy(**options)
        if concurrency < 1:
            raise ValueError("a map does at least one item at a time")
        listed = list(items)
        if len(listed) > _STEP_ITEMS_MAX:
            raise Fatal(f"the map {name} has {len(listed)} items; at most {_STEP_ITEMS_MAX} are accepted")
        started_at = _moment(datetime.now(timezone.utc))
        outputs = _in_threads(
            len(listed),
            concurrency,
            lambda place: self._step(f"{name}[{place}]", lambda: function(listed[place]), policy),
        )
        if name not in self._steps:
            self._keep(name, {"items": len(listed)}, started_at=started_at)
        return cast("List[Output]", outputs)

    def _step(self, name: str, function: Callable[[], Output], policy: _StepPolicy) -> Output:
        if name not in self._steps:
            self.check_cancelled()
            started_at = _moment(datetime.now(timezone.utc))
            used: dict[str, Any] = {}
            with self._usage.measured(used) if self._usage else contextlib.nullcontext():
                output, tries = self._tried(name, function, policy)
            if tries > 1:
                used["tries"] = tries
            self._keep(name, _as_kept(output), started_at=started_at, **used)
        # A copy: what the caller does to it is not what was kept.
        return cast(Output, json.loads(json.dumps(self._steps[name])))

    def _tried(self, name: str, function: Callable[[], Output], policy: _StepPolicy) -> tuple[Output, int]:
        for tries in itertools.count(1):
            try:
                return function(), tries
            except (Fatal, RetryError):
                raise
            except Exception as error:
                self.check_cancelled()
                asked = error.seconds if isinstance(error, RetryAfter) else None
                if asked is not None and asked > _WAIT_INSIDE_SECONDS_MAX:
                    raise
                told = _error_of(error)
                if not policy.tries_again(tries, told["class"]):
                    last = f"{told['class']}: {told['message']}"
                    raise RetryError(name, tries, last, self._is_final) from error
                delay = policy.delay_after(tries) if asked is None else asked
                self.log(f"step {name}: try {tries} failed: {told['class']}: {told['message']}", "warn")
            self.sleep(delay)
        raise AssertionError

    def _keep(self, name: str, output: Json, **facts: Any) -> None:
        if self._commit is not None:
            self._commit({"name": name, "output": output, **facts})
        self._steps[name] = output

    def log(self, message: object, level: str = "info") -> None:
        """A line for the log of the attempt."""
        self._report("log", f"{level}: {_clean(str(message), _LOG_LINE_CHARS_MAX)}\n")

    def random(self) -> float:
        """From 0 up to 1, seeded by the run's seed and the attempt: a repeated attempt does not repeat its bad luck."""
        if self._draw is None:
            self._draw = seeded_random(self.seed, self.attempt)
        return self._draw()

    def _stop(self, reason: str) -> None:
        """The first reason given stays."""
        if self.cancel_reason is None:
            self.cancel_reason = reason
            self.cancelled.set()


class _Usage:
    """What steps used. It can be told only of a process that serves one attempt, and only of steps that no other thread
    ran beside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[dict[str, Any]] = []
        self._resets = 0

    @contextlib.contextmanager
    def measured(self, used: dict[str, Any]) -> Iterator[None]:
        """Fills in ``used`` at the end, as far as it can be told."""
        with self._lock:
            mine: dict[str, Any] = {"thread": threading.get_ident(), "alone": True, "cpu": sum(os.times()[:4])}
            for other in self._open:
                if other["thread"] != mine["thread"]:
                    other["alone"] = mine["alone"] = False
            self._open.append(mine)
            # The peak can be reset; a step inside this one takes it away from it.
            self._resets += 1
            mine["reset"] = self._resets if _reset_peak() else None
        try:
            yield
        finally:
            with self._lock:
                self._open.remove(mine)
                if mine["alone"]:
                    used["cpu_seconds"] = round(max(0.0, sum(os.times()[:4]) - mine["cpu"]), 3)
                    peak = _peak_bytes() if mine["reset"] == self._resets else None
                    if peak is not None:
                        used["peak_memory_bytes"] = peak


def _reset_peak() -> bool:
    """Linux only."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
        return True
    except OSError:
        return False


def _peak_bytes() -> int | None:
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            found = re.search(r"^VmHWM:\s*(\d+) kB", file.read(), re.MULTILINE)
        return int(found.group(1)) * 1024 if found else None
    except OSError:
        return None


def _no_file(file_id: str) -> str:
    raise InputFileUnavailable(f"nothing here can fetch the file {file_id}")


def _in_threads(count: int, concurrency: int, work: Callable[[int], Output]) -> list[Output]:
    """In the order of the places. After the first failure nothing more is begun."""
    outputs: dict[int, Output] = {}
    failures: list[BaseException] = []
    places = iter(range(count))
    lock = threading.Lock()
    report = getattr(_printing, "report", None)

    def lane() -> None:
        _printing.report = report
        while True:
            with lock:
                place = next(places, None) if not failures else None
            if place is None:
                return
            try:
                outputs[place] = work(place)
            except BaseException as error:
                with lock:
                    failures.append(error)

    threads = [threading.Thread(target=lane, daemon=True) for _ in range(min(concurrency, count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        # A stop is the answer to everything else that went wrong then.
        raise next((one for one in failures if isinstance(one, Cancelled)), failures[0])
    return [outputs[place] for place in range(count)]


# --- One attempt ------------------------------------------------------------------------------------------------------

_MESSAGE_CHARS_MAX = 8 * 1024
_STACK_CHARS_MAX = 16 * 1024 - 16
_LOG_CHARS_MAX = 1024 * 1024
_LOG_CHARS_AT_ONCE = 64 * 1024


class _Outcome(NamedTuple):
    """How a model's function ended: the JSON text of its result, or its error. Neither: it stopped when told to."""

    result: str | None = None
    error: dict[str, Any] | None = None


def _carry_out(handler: Callable[..., Any], parameters: Json, context: Context) -> _Outcome:
    """Never raises."""
    try:
        value = handler(parameters, context) if _takes_context(handler) else handler(parameters)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
    except Cancelled as stop:
        if context.cancel_reason is not None:
            return _Outcome()
        return _Outcome(error=_error_of(stop))
    except BaseException as error:  # A model that exits must not take the worker with it.
        return _Outcome(error=_error_of(error))
    try:
        return _Outcome(result=_json_text(value))
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the result of {context.model} is not JSON: {error}"
        return _Outcome(error=_plain_error("ResultNotJson", message, retryable=False))


def _takes_context(handler: Callable[..., Any]) -> bool:
    try:
        parameters = list(inspect.signature(handler).parameters.values())
    except (TypeError, ValueError):
        return True
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len(positional) >= 2 or any(one.kind is one.VAR_POSITIONAL for one in parameters)


def _error_of(error: BaseException) -> dict[str, Any]:
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be written"
    told = _plain_error(type(error).__name__, message)
    # The first frame is this file's.
    frames = error.__traceback__.tb_next if error.__traceback__ else None
    try:
        stack = "".join(traceback.format_exception(type(error), error, frames))
    except Exception:
        stack = f"{type(error).__name__}: its traceback cannot be written"
    told["stack"] = _clean(stack, _STACK_CHARS_MAX, keep_end=True)
    if isinstance(error, Fatal) or (isinstance(error, RetryError) and error.is_final):
        told["retryable"] = False
    if isinstance(error, RetryAfter):
        told["retry_after_seconds"] = error.seconds
    return told


def _plain_error(name: str, message: str, **more: Any) -> dict[str, Any]:
    return {"class": _clean(name, 200), "message": _clean(message, _MESSAGE_CHARS_MAX), "stack": None, **more}


class _Attempt:
    """One lease, from the moment it is granted until its end is told or it is lost.

    Expiry is judged by this process's monotonic clock, counted from the moment the last good renewal was *sent*, so
    that the work is told to stop while the service still counts the lease as valid.
    """

    def __init__(
        self,
        lease: Mapping[str, Any],
        sent_at: float,
        beat_seconds: float,
        commit: Callable[[_Attempt, Mapping[str, Any]], None],
        fetch: Callable[[_Attempt, str], str],
        **more: Any,
    ) -> None:
        self.run_id: str = lease["run_id"]
        self.number: int = lease["attempt"]
        self.token: str = lease["token"]
        self.model = (str(lease["model"]), str(lease["model_version"]))
        self.parameters: Json = lease["parameters"]
        self.lease_seconds = float(lease["lease_seconds"])
        # A request that was held tells little about when the lease was granted: the first renewal then comes at once.
        self.renewed_at = max(sent_at, time.monotonic() - self.lease_seconds / 3)
        self.beat_seconds = min(self.lease_seconds / 3, beat_seconds)
        self.beat_at = self.renewed_at + self.beat_seconds
        self.ends_at = time.monotonic() + float(lease.get("timeout_seconds") or math.inf)
        self.facts = {
            "run_id": self.run_id,
            "attempt": self.number,
            "model": self.model[0],
            "model_version": self.model[1],
            "seed": int(lease.get("seed") or 0),
            "deadline": _instant(lease.get("deadline")),
            "steps": {step["name"]: step["output"] for step in lease.get("steps") or []},
            "files": [dict(one) for one in lease.get("files") or []],
            **more,
        }
        self.files = _FileCopies()
        self.commit: Commit = lambda step: commit(self, step)
        self.fetch: Fetch = lambda file_id: fetch(self, file_id)
        self.context = Context(self.facts, self.report, self.commit, self.fetch)
        self.is_lost = False
        """The service said so: nothing more is written."""
        self.is_over = False
        """The function has ended; from here on only its outcome is told."""
        self.sending = threading.Lock()
        self._lock = threading.Lock()
        self._pieces: list[dict[str, str]] = []
        self._log_chars = 0
        self._progress: list[Json] = []
        self.cost: float | None = None
        """What the attempt says it cost."""

    @property
    def fence_at(self) -> float:
        return self.renewed_at + self.lease_seconds * 0.9

    @property
    def cost_said(self) -> dict[str, float]:
        return {} if self.cost is None else {"cost": self.cost}

    def lose(self) -> None:
        self.is_lost = True
        self.context._stop("lease-lost")

    def report(self, kind: str, value: Any) -> None:
        with self._lock:
            if self.is_over or self.is_lost:
                return
            if kind == "progress":
                self._progress = [value]
                return
            if kind == "cost":
                self.cost = value
                return
            if self._log_chars > _LOG_CHARS_MAX:
                return
            value = _UNWANTED.sub("\ufffd", value)
            self._log_chars += len(value)
            if self._log_chars > _LOG_CHARS_MAX:
                kind = "log"
                value = f"warn: further output is left out: it is longer than {_LOG_CHARS_MAX} characters\n"
            if self._pieces and self._pieces[-1]["stream"] == kind and len(self._pieces[-1]["text"]) < 16_384:
                self._pieces[-1]["text"] += value
            else:
                self._pieces.append({"stream": kind, "text": value})

    def end(self) -> None:
        with self._lock:
            self.is_over = True

    def take_progress(self) -> list[Json]:
        with self._lock:
            taken, self._progress = self._progress, []
        return taken

    def take_pieces(self) -> list[dict[str, str]]:
        """As many as one request may carry."""
        taken: list[dict[str, str]] = []
        with self._lock:
            while self._pieces and sum(len(piece["text"]) for piece in taken) < _LOG_CHARS_AT_ONCE:
                taken.append(self._pieces.pop(0))
        return taken

    def put_back(self, pieces: list[dict[str, str]]) -> None:
        with self._lock:
            self._pieces = pieces + self._pieces


class _FileCopies:
    """The local copies of an attempt's files, in a folder that only its user may look into and that goes with it."""

    _PREFIX = "holdfast-files-"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folder: str | None = None
        self._paths: dict[str, str] = {}
        self._is_over = False

    def path(self, file_id: str, name: str, bring: Callable[[BinaryIO], None]) -> str:
        """One copy per file, however often it is asked for."""
        with self._lock:
            if file_id in self._paths:
                return self._paths[file_id]
            if self._is_over:
                raise InputFileUnavailable(f"the file {file_id} was asked for after the end of the attempt")
            if self._folder is None:
                self._folder = tempfile.mkdtemp(prefix=f"{self._PREFIX}{_host_part()}-{os.getpid()}-")
            # Libraries go by the extension; nothing else of a name that strangers chose gets near the disk.
            extension = re.search(r"\.[A-Za-z0-9]{1,10}\Z", name)
            path = os.path.join(
                self._folder, f"file-{len(self._paths) + 1}{extension.group().lower() if extension else ''}"
            )
            try:
                with open(path, "wb") as target:
                    bring(target)
                os.chmod(path, 0o400)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise InputFolderFull(f"there is no room for the file {file_id} in {self._folder}") from error
                raise InputFileUnavailable(f"the file {file_id} could not be copied: {error}") from error
            self._paths[file_id] = path
            return path

    def remove(self) -> None:
        with self._lock:
            self._is_over = True
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    @classmethod
    def remove_abandoned(cls) -> None:
        """What workers of this host that are gone left."""
        pattern = re.compile(re.escape(f"{cls._PREFIX}{_host_part()}-") + r"(\d+)-")
        with contextlib.suppress(OSError):
            for name in os.listdir(tempfile.gettempdir()):
                found = pattern.match(name)
                if found and not _is_running(int(found.group(1))):
                    shutil.rmtree(os.path.join(tempfile.gettempdir(), name), ignore_errors=True)


def _host_part() -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", socket.gethostname()) or "host"


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))


_printing = threading.local()


class _Captured:
    """Standard output that also tells the attempt whose thread writes to it."""

    def __init__(self, original: Any, stream: str) -> None:
        self._original = original
        self._stream = stream

    def write(self, text: str) -> int:
        report: Report | None = getattr(_printing, "report", None)
        if report is not None:
            report(self._stream, text)
        return int(self._original.write(text))

    def flush(self) -> None:
        self._original.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


# --- An attempt in a process of its own -------------------------------------------------------------------------------

Connection = Any
_EXIT_SECONDS = 1.0


def _child_main(
    link: Connection, outputs: list[Connection], handler: Callable[..., Any], parameters: Json, facts: dict[str, Any]
) -> None:
    """The whole life of a child: one call of the function."""
    _die_with_parent(link)
    os.environ.pop("HOLDFAST_TOKEN", None)
    for target, output in enumerate(outputs, 1):
        os.dup2(output.fileno(), target)
    lock = threading.Lock()

    def tell(kind: str, value: Any) -> None:
        with lock:
            link.send((kind, value))

    answers: dict[str, queue.SimpleQueue[Any]] = {"step": queue.SimpleQueue(), "file": queue.SimpleQueue()}
    asking = {kind: threading.Lock() for kind in answers}

    def ask(kind: str, value: Any) -> Any:
        """One at a time, so that the next answer is the right one."""
        with asking[kind]:
            tell(kind, value)
            answer = answers[kind].get()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    context = Context(facts, tell, lambda step: ask("step", dict(step)), lambda file_id: str(ask("file", file_id)))

    def listen() -> None:
        try:
            while True:
                kind, value = link.recv()
                if kind in answers:
                    answers[kind].put(value)
                else:
                    context._stop(value)
        except (EOFError, OSError):
            _kill_group(os.getpid())

    threading.Thread(target=listen, daemon=True).start()
    outcome = _carry_out(handler, parameters, context)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    tell("end", tuple(outcome))


def _die_with_parent(link: Connection) -> None:
    """A group of its own, so that what it starts can be ended with it; and the end of the worker is its end."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):
            os.setsid()
    if sys.platform == "linux":
        with contextlib.suppress(Exception):
            import ctypes

            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _kill_group(pid: int) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)


def _carry_out_in_child(handler: Callable[..., Any], attempt: _Attempt, cancel_grace: float, capture: bool) -> _Outcome:
    """Ends the child, and what it left in its group, when the attempt is to stop and it does not by itself."""
    spawning = multiprocessing.get_context("spawn")
    link, far = spawning.Pipe()
    pipes = [spawning.Pipe(duplex=False) for _ in range(2 if capture else 0)]
    writing = [theirs for _, theirs in pipes]
    printed = [_Printed(ours, stream, attempt) for (ours, _), stream in zip(pipes, ("stdout", "stderr"))]
    arguments = (far, writing, handler, attempt.parameters, attempt.facts)
    child = spawning.Process(target=_child_main, args=arguments, name=f"holdfast {attempt.run_id}")
    try:
        child.start()
        for one in (far, *writing):
            one.close()
        outcome = _follow_child(child, link, printed, attempt, cancel_grace)
        if outcome.result is not None:
            child.join(_EXIT_SECONDS)
        return outcome
    finally:
        if child.pid is not None:
            _kill_group(child.pid)
            # It may not have come as far as to its group.
            child.kill()
            child.join()
        for one in (link, *(one.connection for one in printed)):
            one.close()


class _Printed:
    """What a child prints to one of its streams."""

    def __init__(self, connection: Connection, stream: str, attempt: _Attempt) -> None:
        self.connection = connection
        self._stream = stream
        self._attempt = attempt
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def fileno(self) -> int:
        return int(self.connection.fileno())

    def read(self) -> None:
        text = os.read(self.fileno(), 65_536)
        if not text:
            raise EOFError
        self._attempt.report(self._stream, self._decoder.decode(text))

    def read_rest(self) -> None:
        """Something left running may hold the other side open: nothing is waited for."""
        with contextlib.suppress(EOFError, OSError):
            while multiprocessing.connection.wait([self.connection], timeout=0):
                self.read()


def _follow_child(
    child: Any, link: Connection, printed: list[_Printed], attempt: _Attempt, cancel_grace: float
) -> _Outcome:
    told_at: float | None = None
    outcome: _Outcome | None = None
    sending = threading.Lock()

    def answer(kind: str, value: Any) -> None:
        with sending, contextlib.suppress(OSError):
            link.send((kind, value))

    def serve(kind: str, value: Any) -> None:
        given: Any
        try:
            given = attempt.commit(value) if kind == "step" else attempt.fetch(value)
        except BaseException as error:
            given = _carried(error)
        answer(kind, given)

    heard: list[Any] = [link, *printed]
    while outcome is None:
        reason = attempt.context.cancel_reason
        if reason is not None and told_at is None:
            told_at = time.monotonic()
            answer("stop", reason)
        if told_at is not None and time.monotonic() - told_at >= (0 if reason == "lease-lost" else cancel_grace):
            return _Outcome()
        ready = multiprocessing.connection.wait([*heard, child.sentinel], timeout=0.1)
        for one in [one for one in heard if one in ready]:
            try:
                if one is not link:
                    one.read()
                    continue
                kind, value = one.recv()
                if kind == "end":
                    outcome = _Outcome(*value)
                elif kind in ("step", "file"):
                    # Beside this, so that a service that is away keeps nobody from hearing of a cancel.
                    threading.Thread(target=serve, args=(kind, value), daemon=True).start()
                else:
                    attempt.report(kind, value)
            except (EOFError, OSError):
                heard.remove(one)
        if child.sentinel in ready and link not in heard:
            outcome = _crashed(child)
    for stream in printed:
        stream.read_rest()
    return outcome


def _carried(error: BaseException) -> BaseException:
    """The error, or what it says when it cannot go to another process."""
    try:
        return cast(BaseException, pickle.loads(pickle.dumps(error)))
    except Exception:
        return HoldfastError(str(error))


def _crashed(child: Any) -> _Outcome:
    child.join()
    code = int(child.exitcode or 0)
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    message = f"the process of the attempt ended before the attempt did: {how}"
    return _Outcome(error=_plain_error("ProcessCrashed", message, exit_code=128 - code if code < 0 else code))


# --- Worker -----------------------------------------------------------------------------------------------------------


_WATCH_SECONDS = 1.0
_PAUSE_SECONDS = 0.25
_FILE_SECONDS = 60.0
"""For each piece of a file."""
_FILE_RETRIES = 4


class _Lost(Exception):
    """The lease belongs to somebody else now, or to nobody."""


@dataclass(frozen=True)
class _Model:
    name: str
    version: str
    handler: Callable[..., Any]
    definition: dict[str, Any] | None

    @property
    def retries_retry_error(self) -> bool:
        retry = (self.definition or {}).get("retry") or {}
        return "RetryError" in (retry.get("retry_on") or retry.get("retryOn") or ())


@dataclass
class _Slots:
    """How many attempts more may begin."""

    free: int
    changed: threading.Condition = field(default_factory=threading.Condition)

    def give_back(self, count: int) -> None:
        with self.changed:
            self.free += count
            self.changed.notify_all()


class Worker:
    """Takes runs of its models from the service and runs them, ``slots`` at once.

    In threads of this process, or with ``isolation="process"`` each attempt in a process of its own, which a cancel, a
    timeout and a lost lease can end even when the function does not look at ``ctx.cancelled``. The functions must then
    be importable.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        name: str | None = None,
        queues: Sequence[str] | None = None,
        slots: int = 1,
        *,
        isolation: str = "thread",
        capture_output: bool = False,
        register: bool = True,
        wait_seconds: float = 20.0,
        heartbeat_seconds: float = 1.5,
        report_seconds: float = 1.0,
        grace_seconds: float = 30.0,
        cancel_grace_seconds: float = 10.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """``name`` is for people, one per process; host and process id when not given. ``queues``: those of the models
        when not given. ``register``: False when the models are registered already, such as in a holdfast.yaml.

        A heartbeat goes out every ``heartbeat_seconds``, or every third of the lease if that is sooner; a cancel is
        learnt from its answer. ``grace_seconds``: for the work to end at a stop. ``cancel_grace_seconds``: for work
        that is told to stop, before it is ended (``process``) or left behind (``thread``). ``capture_output``: what the
        functions print goes to the log of their attempt as well.
        """
        if isolation not in ("thread", "process"):
            raise ValueError(f'isolation is "thread" or "process", not {isolation!r}')
        if slots < 1:
            raise ValueError("a worker has at least one slot")
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        if not re.fullmatch(r"[\x21-\x7e]{1,128}", self.name):
            raise ValueError("the name of a worker has 1 to 128 printable ASCII characters and no blanks")
        self.slots = slots
        self.queues = list(queues) if queues is not None else None
        self.isolation = isolation
        self._transport = _Transport(url, token, None, ssl_context)
        self._capture = capture_output
        self._register = register
        self._wait = wait_seconds
        self._beat = heartbeat_seconds
        self._report_every = report_seconds
        self._grace = grace_seconds
        self._cancel_grace = cancel_grace_seconds
        self._models: dict[tuple[str, str], _Model] = {}
        self._held: dict[str, _Attempt] = {}
        self._held_changed = threading.Condition()
        self._slots = _Slots(slots)
        self._work: queue.SimpleQueue[_Attempt | None] = queue.SimpleQueue()
        # The only thing a signal handler may touch: putting into it is safe while anything else is locked.
        self._calls: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._poll = _Hold()
        self._stopping = threading.Event()
        self._halted = threading.Event()

    @property
    def url(self) -> str:
        return self._transport.url

    def model(
        self,
        name: str,
        version: str = "1",
        *,
        parameters: Mapping[str, Json] | None = None,
        description: str | None = None,
        ignore_in_hash: Sequence[str] | None = None,
        volatile: Sequence[str] | None = None,
        facets: Mapping[str, str] | None = None,
        places: str | None = None,
        queue: str | None = None,
        priority: int | None = None,
        retry: Mapping[str, Json] | None = None,
        timeout_seconds: float | None = None,
        expected_seconds: float | None = None,
        register: bool | None = None,
    ) -> Callable[[Handler], Handler]:
        """Offers a function as a model: ``f(parameters, ctx)``, ``f(parameters)``, or a coroutine function of either
        kind. What it returns is the result: any JSON. What it raises fails the attempt, which is repeated as the retry
        policy says, and not at all after `Fatal`.

        ``parameters`` is the JSON Schema by which the service checks, completes and hashes what is submitted.
        """
        options = {
            "description": description,
            "ignore_in_hash": ignore_in_hash,
            "volatile": volatile,
            "facets": facets,
            "places": places,
            "queue": queue,
            "priority": priority,
            "retry": retry,
            "timeout_seconds": timeout_seconds,
            "expected_seconds": expected_seconds,
        }
        definition: dict[str, Any] = {"parameters_schema": dict(parameters or {"type": "object"})}
        definition.update({name: value for name, value in options.items() if value is not None})
        is_registered = self._register if register is None else register

        def offer(handler: Handler) -> Handler:
            if (name, version) in self._models:
                raise ValueError(f"the model {name} in version {version} is offered twice")
            self._models[name, version] = _Model(name, version, handler, definition if is_registered else None)
            return handler

        return offer

    def run(self) -> None:
        """Works until `stop` is called or SIGTERM or SIGINT comes; a second signal ends the grace. Can be called once.

        Then no new work is taken, what runs may end within the grace, and the rest is released: others begin it anew,
        and it has as many attempts left as before.
        """
        if not self._models:
            raise ValueError("this worker offers no model: use @worker.model(...)")
        if self.isolation == "process":
            for model in self._models.values():
                _require_importable(model.handler)
        before = self._catch_signals()
        captured = self._capture_prints() if self._capture and self.isolation == "thread" else []
        try:
            _FileCopies.remove_abandoned()
            self._register_models()
            threads = [self._start("heartbeat", self._keep_leases), self._start("reports", self._send_reports)]
            poller = self._start("poll", self._take_work)
            for number in range(self.slots):
                self._start(f"slot {number + 1}", self._run_attempts)
            _log.info("worker %s started at %s", self.name, self.url)
            self._watch()
            poller.join(timeout=self._cancel_grace)
            self._halted.set()
            self._say_goodbye()
            with self._held_changed:
                self._held_changed.notify_all()
            for thread in threads:
                thread.join(timeout=2)
            _log.info("worker %s stopped", self.name)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)
            for stream, original in captured:
                setattr(sys, stream, original)
            self._transport.close()

    def stop(self) -> None:
        """Asks `run` to return; from any thread. Again: without waiting for the work."""
        self._calls.put("stop")

    # -- Preparations --

    def _start(self, what: str, target: Callable[[], None]) -> threading.Thread:
        # Daemons: work that does not look at ctx.cancelled must not keep the process from ending.
        thread = threading.Thread(target=target, name=f"holdfast {what}", daemon=True)
        thread.start()
        return thread

    def _catch_signals(self) -> dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}

        def on_signal(_number: int, _frame: FrameType | None) -> None:
            self._calls.put("stop")

        return {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}

    def _capture_prints(self) -> list[tuple[str, Any]]:
        originals = [(stream, getattr(sys, stream)) for stream in ("stdout", "stderr")]
        for stream, original in originals:
            setattr(sys, stream, _Captured(original, stream))
        return originals

    def _register_models(self) -> None:
        """Waits for a service that cannot be reached; raises when it refuses."""
        for model in self._models.values():
            if model.definition is None:
                continue
            path = f"/models/{quote(model.name, safe='')}/{quote(model.version, safe='')}"
            body = _json_text(model.definition)
            for delay in _backoff():
                try:
                    self._ask("PUT", path, body)
                    break
                except (OSError, http.client.HTTPException, Transient) as error:
                    _log.warning("cannot register %s: %s; trying again in %.1f s", model.name, error, delay)
                if self._called(delay):
                    self._calls.put("stop")
                    return

    def _ask(
        self,
        method: str,
        path: str,
        body: str,
        *,
        attempt: _Attempt | None = None,
        timeout: float = 60.0,
        hold: _Hold | None = None,
    ) -> Json:
        """Raises _Lost when the attempt's token is no longer good, and else as the client does; repeats nothing."""
        headers = {"Holdfast-Attempt-Token": attempt.token} if attempt else {}
        answer = self._transport.send(method, path, body=body, headers=headers, timeout=timeout, hold=hold)
        if 200 <= answer.status < 300:
            try:
                return answer.json()
            except ValueError as error:
                raise http.client.HTTPException(f"{method} {path} was not answered in JSON") from error
        refusal = _refusal(answer, self.url, path)
        # A 404 that is not the service's own says nothing about the lease.
        if attempt and (answer.status == 409 or refusal.code in ("lease-lost", "run-not-found")):
            raise _Lost(str(refusal))
        if (answer.status >= 500 or answer.status == 408) and not isinstance(refusal, Transient):
            raise Transient(str(refusal), status=answer.status, code=refusal.code, problem=refusal.problem)
        raise refusal

    # -- The main thread: stops, deadlines, and leases that could not be renewed --

    def _called(self, seconds: float) -> bool:
        """Whether somebody asks to stop."""
        try:
            return self._calls.get(timeout=max(0.0, seconds)) == "stop"
        except queue.Empty:
            return False

    def _watch(self) -> None:
        while not self._called(self._check_times()):
            pass
        self._stopping.set()
        self._poll.end()
        with self._slots.changed:
            self._slots.changed.notify_all()
        _log.info("worker %s is stopping; %d attempts are running", self.name, len(self._attempts()))
        self._until_idle(self._grace)
        for attempt in self._attempts():
            attempt.context._stop("shutdown")
        self._until_idle(self._cancel_grace)
        for attempt in self._attempts():
            # What has ended and is not told yet goes on trying until the end.
            if not attempt.is_over:
                self._release(attempt)

    def _until_idle(self, seconds: float) -> None:
        due = time.monotonic() + seconds
        while self._attempts() and time.monotonic() < due:
            if self._called(min(self._check_times(), due - time.monotonic(), 0.1)):
                return

    def _check_times(self) -> float:
        """Tells what is due, and answers after how many seconds to look again."""
        now = time.monotonic()
        wait = _WATCH_SECONDS
        for attempt in self._attempts():
            if attempt.is_over or attempt.context.cancelled.is_set():
                continue
            if now >= attempt.fence_at:
                _log.warning("run %s: its lease could not be renewed; the work is told to stop", attempt.run_id)
                attempt.context._stop("lease-lost")
            elif now >= attempt.ends_at:
                attempt.context._stop("timeout")
            else:
                wait = min(wait, attempt.fence_at - now, attempt.ends_at - now)
        return wait

    def _attempts(self) -> list[_Attempt]:
        with self._held_changed:
            return list(self._held.values())

    # -- Taking work --

    def _take_work(self) -> None:
        delays = _backoff()
        while not self._stopping.is_set():
            with self._slots.changed:
                while self._slots.free == 0 and not self._stopping.is_set():
                    self._slots.changed.wait()
                asked = self._slots.free
            if self._stopping.is_set():
                return
            try:
                began_at = time.monotonic()
                leases = self._lease(asked)
                self._accept(leases, began_at)
                delays = _backoff()
                if not leases and time.monotonic() - began_at < _PAUSE_SECONDS:
                    # A service that does not hold requests is not asked in a tight loop.
                    self._stopping.wait(_PAUSE_SECONDS)
            except Exception as error:  # Whatever it was: a worker that asks no more would look idle for ever.
                if self._stopping.is_set():
                    return
                delay = next(delays)
                if isinstance(error, Transient):
                    delay = max(delay, min(error.retry_after_seconds or 0.0, _DELAY_SECONDS_MAX))
                _log.warning("cannot ask for work: %s; trying again in %.1f s", error, delay)
                self._stopping.wait(delay)

    def _lease(self, slots: int) -> list[dict[str, Any]]:
        body = {**self._presence(), "slots": min(slots, 1_000), "wait_seconds": self._wait}
        answer = self._ask("POST", "/leases", _json_text(body), timeout=self._wait + 30, hold=self._poll)
        return cast("list[dict[str, Any]]", (answer or {}).get("data", []))

    def _presence(self) -> dict[str, Any]:
        return {
            "worker": self.name,
            "models": [f"{name}@{version}" for name, version in self._models],
            **({"queues": self.queues} if self.queues else {}),
            "concurrency": self.slots,
            "host": socket.gethostname()[:255] or "unknown",
            "pid": os.getpid(),
            "version": f"python-{sys.version_info[0]}.{sys.version_info[1]}",
        }

    def _accept(self, leases: list[dict[str, Any]], sent_at: float) -> None:
        for lease in leases:
            model = self._models.get((str(lease["model"]), str(lease["model_version"])))
            attempt = _Attempt(
                lease,
                sent_at,
                self._beat,
                self._commit_step,
                self._fetch_file,
                retry_error_is_final=model is None or not model.retries_retry_error,
                is_alone=self.isolation == "process",
            )
            with self._held_changed:
                self._held[attempt.token] = attempt
                self._held_changed.notify_all()
            with self._slots.changed:
                self._slots.free -= 1
            if min(attempt.fence_at, attempt.ends_at) < time.monotonic() + _WATCH_SECONDS:
                self._calls.put("look")
            if self._stopping.is_set():
                self._release(attempt)
            else:
                self._work.put(attempt)

    def _say_goodbye(self) -> None:
        with contextlib.suppress(Exception):
            self._ask("POST", "/leases", _json_text({**self._presence(), "slots": 1, "stopping": True}), timeout=2)

    # -- Running it --

    def _run_attempts(self) -> None:
        while True:
            attempt = self._work.get()
            if attempt is None:
                return
            try:
                self._run_attempt(attempt)
            except Exception:
                _log.exception("run %s: the worker itself failed", attempt.run_id)
            finally:
                attempt.files.remove()
                self._let_go(attempt)
                self._slots.give_back(1)

    def _run_attempt(self, attempt: _Attempt) -> None:
        model = self._models.get(attempt.model)
        if model is None:
            message = f"this worker does not have {attempt.model[0]} in version {attempt.model[1]}"
            self._fail(attempt, _plain_error("ModelNotOffered", message))
            return
        if self.isolation == "process":
            outcome = _carry_out_in_child(model.handler, attempt, self._cancel_grace, self._capture)
        else:
            _printing.report = attempt.report
            outcome = _carry_out(model.handler, attempt.parameters, attempt.context)
            _printing.report = None
        attempt.end()
        if attempt.is_lost or attempt.token not in self._held:
            return
        self._send_report(attempt)
        reason = attempt.context.cancel_reason
        if outcome.result is not None:
            # Also after a cancel or a failed renewal: whether it still counts is for the service to say.
            self._complete(attempt, outcome.result)
        elif reason == "cancelled":
            self._settle(attempt, "fail", _json_text({"cancelled": True, **attempt.cost_said}))
        elif reason == "shutdown":
            self._release(attempt)
        elif reason == "timeout":
            message = "the attempt took longer than its timeout and was told to stop"
            self._fail(attempt, _plain_error("Timeout", message))
        elif reason is None and outcome.error is not None:
            self._fail(attempt, outcome.error)

    def _complete(self, attempt: _Attempt, result: str) -> None:
        cost = "" if attempt.cost is None else f',"cost":{_json_text(attempt.cost)}'
        refusal = self._settle(attempt, "complete", '{"result":%s%s}' % (result, cost))
        if refusal is None:
            return
        if refusal.status in (400, 413, 422):
            name = "ResultTooLarge" if refusal.status == 413 else "ResultNotJson"
            self._fail(attempt, _plain_error(name, str(refusal), retryable=False))
        else:
            _log.error("run %s: its result was refused: %s", attempt.run_id, refusal)

    def _fail(self, attempt: _Attempt, error: Mapping[str, Any]) -> None:
        refusal = self._settle(attempt, "fail", _json_text({"error": error, **attempt.cost_said}))
        if refusal is not None:
            _log.error("run %s: its failure was refused: %s", attempt.run_id, refusal)

    def _settle(self, attempt: _Attempt, route: str, body: str) -> HoldfastError | None:
        """Says it until there is an answer; repeating it is harmless, and the lease is renewed meanwhile. Answers a
        refusal."""
        for delay in _backoff():
            try:
                self._ask("POST", f"/leases/{attempt.run_id}/{route}", body, attempt=attempt)
                return None
            except _Lost:
                attempt.lose()
                _log.warning("run %s: the lease is lost; what attempt %d did is void", attempt.run_id, attempt.number)
                return None
            except (OSError, http.client.HTTPException, Transient) as error:
                _log.warning("run %s: %s was not answered: %s; again in %.1f s", attempt.run_id, route, error, delay)
            except HoldfastError as refusal:
                return refusal
            if self._halted.wait(delay):
                return None
        return None

    def _commit_step(self, attempt: _Attempt, step: Mapping[str, Any]) -> None:
        """Returns when it is kept. Says it until there is an answer or the work is to stop; repeating is harmless."""
        body = _json_text(step)
        for delay in _backoff():
            attempt.context.check_cancelled()
            try:
                self._ask("POST", f"/leases/{attempt.run_id}/steps", body, attempt=attempt)
                return
            except _Lost as lost:
                _log.warning("run %s: %s", attempt.run_id, lost)
                attempt.lose()
                self._let_go(attempt)
            except (OSError, http.client.HTTPException, Transient) as error:
                _log.warning("run %s: a step was not answered: %s; again in %.1f s", attempt.run_id, error, delay)
                attempt.context.cancelled.wait(delay)
            except HoldfastError as refusal:
                if refusal.status in (400, 413, 422):
                    raise Fatal(f"the step {step['name']} was refused: {refusal}") from refusal
                raise

    def _fetch_file(self, attempt: _Attempt, file_id: str) -> str:
        """The path of a local copy whose bytes were checked."""
        file = next((one for one in attempt.facts["files"] if one["file_id"] == file_id), None)
        if file is None:
            raise Fatal(f"the run {attempt.run_id} has no file {file_id}")

        def bring(target: BinaryIO) -> None:
            for tries, delay in enumerate(_backoff(), 1):
                attempt.context.check_cancelled()
                fault = self._bring_once(attempt, file, target)
                if fault is None:
                    return
                passing = (OSError, http.client.HTTPException, Transient, InputFileDamaged)
                if tries > _FILE_RETRIES or not isinstance(fault, passing):
                    if isinstance(fault, InputFileDamaged):
                        raise fault
                    raise InputFileUnavailable(f"the file {file_id} could not be had: {fault}") from fault
                _log.warning("run %s: a file was not brought: %s; again in %.1f s", attempt.run_id, fault, delay)
                attempt.context.cancelled.wait(delay)

        return attempt.files.path(file_id, str(file["name"]), bring)

    def _bring_once(self, attempt: _Attempt, file: Mapping[str, Any], target: BinaryIO) -> Exception | None:
        """None when it went well. Raises what no repeat can change: the work is to stop, or there is no room."""
        path = str(file["href"])
        target.seek(0)
        target.truncate()
        headers = {"Holdfast-Attempt-Token": attempt.token}
        try:
            with self._transport.stream("GET", path, headers=headers, timeout=_FILE_SECONDS) as response:
                if response.status == 200:
                    _copy_checked(response, target, file["file_id"], attempt.context.check_cancelled)
                    return None
                refusal = _refusal(_Answer(response.status, response.headers, response.read()), self.url, path)
        except (http.client.HTTPException, OSError, InputFileDamaged) as error:
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            return error
        if refusal.status == 409:
            attempt.lose()
            self._let_go(attempt)
            attempt.context.check_cancelled()
        return refusal

    def _release(self, attempt: _Attempt) -> None:
        """Once: who cannot be told learns it when the lease ends. What the work still says is dropped."""
        attempt.end()
        try:
            self._ask("POST", f"/leases/{attempt.run_id}/release", "{}", attempt=attempt, timeout=5)
        except (OSError, http.client.HTTPException, HoldfastError, _Lost) as error:
            _log.warning("run %s could not be released: %s", attempt.run_id, error)
        self._let_go(attempt)

    def _let_go(self, attempt: _Attempt) -> None:
        with self._held_changed:
            self._held.pop(attempt.token, None)

    # -- Heartbeats and reports --

    def _keep_leases(self) -> None:
        while not self._halted.is_set():
            with self._held_changed:
                due = min(self._held.values(), key=lambda attempt: attempt.beat_at, default=None)
                left = 1.0 if due is None else due.beat_at - time.monotonic()
                if due is None or left > 0:
                    self._held_changed.wait(min(left, 1.0))
                    continue
            self._renew(due)

    def _renew(self, attempt: _Attempt) -> None:
        """One at a time, and none for so long that the next one's lease could end meanwhile."""
        sent_at = time.monotonic()
        timeout = max(0.25, min(attempt.lease_seconds / 3, 10.0))
        try:
            answer = self._say(attempt, "heartbeat", {}, timeout)
            if answer is not None:
                attempt.renewed_at = sent_at
                attempt.beat_at = sent_at + attempt.beat_seconds
        except Exception as error:  # Whatever it was: this thread holds all leases.
            attempt.beat_at = time.monotonic() + min(1.0, attempt.lease_seconds / 15)
            _log.warning("run %s: a heartbeat failed: %s", attempt.run_id, error)

    def _send_reports(self) -> None:
        while not self._halted.wait(self._report_every):
            for attempt in self._attempts():
                if attempt.is_lost or attempt.is_over:
                    continue
                self._send_report(attempt)

    def _send_report(self, attempt: _Attempt) -> None:
        """What the attempt said and is not told yet. The outcome does not wait for a service that is away."""
        progress = attempt.take_progress()
        try:
            if progress:
                self._say(attempt, "progress", {"progress": progress[0]}, 10)
            self._send_pieces(attempt)
        except Exception as error:
            _log.warning("run %s: what it reports could not be told: %s", attempt.run_id, error)

    def _send_pieces(self, attempt: _Attempt) -> None:
        with attempt.sending:
            while not attempt.is_lost:
                pieces = attempt.take_pieces()
                if not pieces:
                    return
                try:
                    self._say(attempt, "logs", {"pieces": pieces}, 10)
                except (OSError, http.client.HTTPException, Transient):
                    attempt.put_back(pieces)
                    raise
                except HoldfastError as error:
                    _log.warning("run %s: a part of its log was refused: %s", attempt.run_id, error)

    def _say(self, attempt: _Attempt, route: str, body: Json, timeout: float) -> dict[str, Any] | None:
        """None when the lease is lost; every answer tells whether the run is to be cancelled."""
        path = f"/leases/{attempt.run_id}/{route}"
        try:
            answer = self._ask("POST", path, _json_text(body), attempt=attempt, timeout=timeout)
        except _Lost as lost:
            # Once the function has ended, its outcome may be what ended the lease.
            if attempt.is_over:
                attempt.beat_at = math.inf
            else:
                _log.warning("run %s: %s", attempt.run_id, lost)
                attempt.lose()
                self._let_go(attempt)
            return None
        if answer and answer.get("cancel_requested"):
            attempt.context._stop("cancelled")
        return cast("dict[str, Any]", answer)


def _require_importable(handler: Callable[..., Any]) -> None:
    try:
        pickle.dumps(handler)
    except Exception as error:
        raise TypeError(f"{handler!r} must be a function of a module to run in a process of its own") from error


def _backoff() -> Iterator[float]:
    """Seconds: 0.25, 0.5, 1, … up to 10, each with jitter, without end."""
    for power in itertools.count():
        yield min(10.0, 0.25 * float(2 ** min(power, 10))) * (0.75 + random.random() / 2)


def main(arguments: Sequence[str] | None = None) -> int:
    """``python -m holdfast worker module:worker``"""
    parser = argparse.ArgumentParser(prog="python -m holdfast", description="Runs a Holdfast worker.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("worker", help="run a worker that a module defines")
    command.add_argument("worker", metavar="module:name", help="such as models:worker")
    given = parser.parse_args(arguments)
    module_name, _, name = given.worker.partition(":")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    sys.path.insert(0, os.getcwd())
    worker = getattr(importlib.import_module(module_name), name or "worker", None)
    if not isinstance(worker, Worker):
        parser.error(f"{given.worker} is not a holdfast.Worker")
    worker.run()
    return 0


if __name__ == "__main__":
    # Under its own name, so that the module with the worker meets the same classes.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.exit(importlib.import_module("holdfast").main())
