"""The client and the worker against a server that does what each test says: ``python3 -m unittest`` in this folder."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from collections.abc import Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Callable, NamedTuple, Optional
from urllib.parse import parse_qs, urlsplit

import holdfast
from holdfast import Cancelled, Client, Context, Fatal, RetryAfter, Worker

logging.getLogger("holdfast").setLevel(logging.CRITICAL)

RUN_ID = "0198c3d2-7a51-7000-8000-000000000001"


class Seen(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Reply(NamedTuple):
    status: int = 200
    body: Any = None
    headers: Optional[dict[str, str]] = None
    lost: bool = False
    late: Optional[threading.Event] = None
    length: Optional[int] = None
    """What is said of the length of the body, when that is not true."""


Act = Callable[[Seen], Reply]


class Server:
    """Answers a request by the function planned for its route, else by what `routes` has for it."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.routes: dict[str, Act] = {}
        self.changed = threading.Condition()
        outer = self

        class RequestHandler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def chunks(self) -> bytes:
                text = b""
                while True:
                    length = int(self.rfile.readline(), 16)
                    text += self.rfile.read(length)
                    self.rfile.readline()
                    if length == 0:
                        return text

            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                text = self.rfile.read(length)
                headers = {name.lower(): value for name, value in self.headers.items()}
                if headers.get("transfer-encoding") == "chunked":
                    text = self.chunks()
                is_bytes = headers.get("content-type") == "application/octet-stream"
                seen = Seen(self.command, self.path, headers, text if is_bytes else json.loads(text) if text else None)
                with outer.changed:
                    outer.seen.append(seen)
                    outer.changed.notify_all()
                path = self.path.split("?")[0]
                route = f"{self.command} {path.replace(RUN_ID, '{id}')}"
                act = outer.routes.get(route)
                reply = act(seen) if act else problem(404, "not-found")
                if reply.late is not None:
                    reply.late.wait(20)
                if reply.lost:
                    self.close_connection = True
                    return
                body = reply.body if isinstance(reply.body, bytes) else b"" if reply.body is None else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in (reply.headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(reply.length if reply.length is not None else len(body)))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = self.close_connection or reply.length is not None

            do_GET = do_POST = do_PUT = do_DELETE = answer

        class Listener(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def server_bind(self) -> None:
                # Not HTTPServer's, which asks a name server for the name of this host.
                TCPServer.server_bind(self)

            def handle_error(self, *_: Any) -> None:
                pass

        self.listener = Listener(("127.0.0.1", 0), RequestHandler)
        self.url = f"http://127.0.0.1:{self.listener.server_address[1]}"
        threading.Thread(target=self.listener.serve_forever, args=(0.01,), daemon=True).start()

    def of(self, route: str) -> list[Seen]:
        with self.changed:
            return [
                seen
                for seen in self.seen
                if f"{seen.method} {seen.path.split('?')[0].replace(RUN_ID, '{id}')}" == route
            ]

    def until(self, route: str, count: int = 1) -> list[Seen]:
        until(lambda: len(self.of(route)) >= count, f"{count} requests to {route}")
        return self.of(route)

    def close(self) -> None:
        self.listener.shutdown()
        self.listener.server_close()


def until(check: Callable[[], Any], what: str, seconds: float = 10) -> Any:
    due = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > due:
            raise AssertionError(f"gave up waiting for {what}")
        time.sleep(0.01)


def problem(status: int, code: str, headers: Optional[dict[str, str]] = None, **more: Any) -> Reply:
    return Reply(status, {"code": code, "detail": f"It is {code}.", "status": status, **more}, headers)


def plan(*replies: Reply) -> Act:
    """One after the other, the last one again and again."""
    left = list(replies)
    return lambda _seen: left.pop(0) if len(left) > 1 else left[0]


def run_object(**more: Any) -> dict[str, Any]:
    return {
        "run_id": RUN_ID,
        "status": "PENDING",
        "finished_at": None,
        "last_error": None,
        "idempotent_hit": False,
        **more,
    }


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server()
        self.addCleanup(self.server.close)
        self.slept: list[float] = []
        self.client = Client(self.server.url, "hf_secret", "ann", sleep=self.slept.append)
        self.addCleanup(self.client.close)

    def on(self, route: str, *replies: Reply) -> None:
        self.server.routes[route] = plan(*replies)

    def test_a_submit_carries_token_owner_parameters_and_a_key_of_its_own(self) -> None:
        self.on("POST /runs", Reply(201, run_object(quota_warnings=["near"], cost_limit_warning={"left": 1})))
        warned: list[str] = []
        client = Client(self.server.url, "hf_secret", "ann", on_warning=lambda warning, _run: warned.append(warning))
        self.addCleanup(client.close)
        at = datetime(2030, 1, 2, tzinfo=timezone.utc)
        first = client.submit("forecast", {"region": "Österreich"}, priority=3, available_at=at)
        second = client.submit("forecast")
        seen = self.server.of("POST /runs")
        self.assertEqual(seen[0].headers["authorization"], "Bearer hf_secret")
        self.assertEqual(seen[0].headers["holdfast-owner"], "ann")
        expected = {"model": "forecast", "parameters": {"region": "Österreich"}, "priority": 3}
        sent = {"available_at": "2030-01-02T00:00:00Z", "idempotency_key": first.key}
        self.assertEqual(seen[0].body, {**expected, **sent})
        self.assertRegex(first.key, r"^client-[0-9a-f]{32}$")
        self.assertNotEqual(first.key, second.key)
        self.assertEqual((first.run_id, first.was_duplicate), (RUN_ID, False))
        self.assertEqual(first.warnings, ["near", '{"left": 1}'])
        self.assertEqual(warned, first.warnings * 2)

    def test_a_call_is_repeated_with_the_same_key_after_1_2_and_4_seconds(self) -> None:
        lost, busy, gateway = Reply(lost=True), problem(503, "busy"), Reply(502)
        self.on("POST /runs", lost, busy, gateway, Reply(200, run_object(idempotent_hit=True)))
        submitted = self.client.submit("forecast", {"n": 1})
        self.assertEqual(self.slept, [1, 2, 4])
        self.assertTrue(submitted.was_duplicate)
        bodies = [seen.body for seen in self.server.of("POST /runs")]
        self.assertEqual(bodies, [bodies[0]] * 4)

    def test_retry_after_is_honoured_and_a_long_one_is_told(self) -> None:
        limited = problem(429, "rate-limited", {"Retry-After": "7"})
        self.on("POST /runs", limited, problem(429, "rate-limited", {"Retry-After": "3600"}))
        with self.assertRaises(holdfast.MaxRetriesExceeded) as raised:
            self.client.submit("forecast")
        self.assertEqual(self.slept, [7])
        self.assertEqual((raised.exception.attempts, raised.exception.retry_after_seconds), (2, 3600))
        self.assertNotIn("may exist", str(raised.exception))

    def test_limits_and_other_refusals_are_never_repeated(self) -> None:
        kinds = [
            (403, "quota-exceeded", holdfast.QuotaExceeded),
            (403, "cost-limit-exceeded", holdfast.CostLimitExceeded),
            (409, "idempotency-key-reused", holdfast.Conflict),
            (422, "invalid-parameters", holdfast.HoldfastError),
        ]
        for status, code, kind in kinds:
            self.on("POST /runs", problem(status, code, errors=[{"pointer": "/n", "detail": "is odd"}]))
            with self.assertRaises(kind) as raised:
                self.client.submit("forecast")
            self.assertEqual((raised.exception.status, raised.exception.code), (status, code))
            self.assertEqual(str(raised.exception), f"It is {code}. ({code}); /n: is odd")
        self.assertEqual(self.slept, [])

    def test_a_limit_names_its_rule_and_what_holds_it(self) -> None:
        rule = {"owner": "ann", "model": None, "together": False}
        told = {"rule": rule, "limit": "max_concurrent", "maximum": 5, "used": 5, "holders": [RUN_ID]}
        self.on("POST /runs", problem(403, "quota-exceeded", **told))
        with self.assertRaises(holdfast.QuotaExceeded) as raised:
            self.client.submit("forecast")
        self.assertEqual({name: getattr(raised.exception, name) for name in told}, told)
        self.on("POST /runs", problem(403, "cost-limit-exceeded"))
        with self.assertRaises(holdfast.QuotaExceeded) as raised:
            self.client.submit("forecast")
        self.assertEqual((raised.exception.rule, raised.exception.holders), (None, []))

    def test_a_reservation_is_made_once_handed_over_and_released(self) -> None:
        held = {"reservation_id": RUN_ID, "state": "ACTIVE"}
        self.on("POST /reservations", Reply(lost=True), Reply(201, held))
        self.on("DELETE /reservations/{id}", Reply(lost=True), Reply(200, {**held, "state": "RELEASED"}))
        self.on("POST /runs", Reply(201, run_object()))
        made = self.client.reserve(ttl_seconds=60, cost=1.5)
        self.assertEqual(self.server.seen[-1].body, {"ttl_seconds": 60, "cost": 1.5})
        keys = [seen.headers["idempotency-key"] for seen in self.server.seen]
        self.assertEqual(keys, [keys[0]] * 2)
        self.client.submit("forecast", reservation_id=made["reservation_id"])
        self.assertEqual(self.server.seen[-1].body["reservation_id"], RUN_ID)
        self.assertEqual(self.client.release(made)["state"], "RELEASED")
        self.assertEqual(self.slept, [1, 1])

    def test_a_timeout_says_that_the_run_may_exist_and_names_the_key(self) -> None:
        never = threading.Event()
        self.addCleanup(never.set)
        self.on("POST /runs", Reply(late=never))
        client = Client(self.server.url, timeout_seconds=0.05, sleep=self.slept.append)
        with self.assertRaises(holdfast.Timeout) as raised:
            client.submit("forecast", idempotency_key="mine")
        self.assertIn("4 times; the run may exist: ask again with key mine", str(raised.exception))
        self.assertEqual((raised.exception.attempts, raised.exception.key), (4, "mine"))

    def test_a_service_that_is_away_is_told_with_the_key(self) -> None:
        client = Client("http://127.0.0.1:1", sleep=self.slept.append)
        with self.assertRaises(holdfast.MaxRetriesExceeded) as raised:
            client.submit("forecast")
        self.assertNotIsInstance(raised.exception, holdfast.Timeout)
        self.assertIn(f"ask again with key {raised.exception.key}", str(raised.exception))
        self.assertIsInstance(raised.exception.__cause__, ConnectionRefusedError)

    def test_a_redirect_is_not_followed_and_what_is_not_json_is_told(self) -> None:
        self.on("GET /runs/{id}", Reply(302, None, {"Location": "http://elsewhere/"}))
        with self.assertRaisesRegex(holdfast.HoldfastError, "redirects to http://elsewhere/"):
            self.client.get(RUN_ID)
        self.on("GET /runs/{id}", Reply(404, "<html>"))
        with self.assertRaisesRegex(holdfast.HoldfastError, "The answer was 404"):
            self.client.get(RUN_ID)

    def test_submit_and_wait_holds_requests_and_answers_the_result(self) -> None:
        self.on("POST /runs", Reply(201, run_object()))
        self.on("GET /runs/{id}", Reply(200, run_object()), Reply(200, run_object(status="SUCCEEDED", finished_at="t")))
        self.on("GET /runs/{id}/result", Reply(200, {"objective": 42}))
        self.assertEqual(self.client.submit_and_wait("forecast", {}), {"objective": 42})
        held = [seen.headers.get("prefer") for seen in self.server.seen]
        self.assertEqual(held, ["wait=60", "wait=60", "wait=60", None])

    def test_a_run_without_result_raises_what_became_of_it(self) -> None:
        error = {"class": "ValueError", "message": "odd", "attempt": 3}
        self.on("POST /runs", Reply(201, run_object(status="FAILED", finished_at="t", last_error=error)))
        with self.assertRaisesRegex(holdfast.RunFailed, r"ValueError: odd \(attempt 3\)") as raised:
            self.client.submit_and_wait("forecast")
        self.assertEqual(raised.exception.run_id, RUN_ID)
        self.on("GET /runs/{id}/result", problem(409, "run-cancelled"))
        with self.assertRaises(holdfast.RunCancelled) as cancelled:
            self.client.result(RUN_ID)
        self.assertEqual(cancelled.exception.run_id, RUN_ID)

    def test_a_wait_that_is_over_says_that_the_run_goes_on(self) -> None:
        self.on("GET /runs/{id}", Reply(200, run_object(status="RUNNING")))
        with self.assertRaisesRegex(holdfast.Timeout, "is still RUNNING after 0.01 s and goes on"):
            self.client.wait(RUN_ID, wait_seconds=0.01)

    def test_a_list_goes_through_all_pages(self) -> None:
        pages = [
            {"data": [1], "next_cursor": "a b"},
            {"data": [], "next_cursor": "c"},
            {"data": [2], "next_cursor": None},
        ]
        self.on("GET /runs", *(Reply(200, page) for page in pages))
        self.assertEqual(list(self.client.list(status=["FAILED"], tag="a,b", text="x,y")), [1, 2])
        paths = [seen.path for seen in self.server.seen]
        first = "/runs?limit=200&status=FAILED&tag=a%5C%2Cb&text=x%2Cy"
        self.assertEqual(paths, [first, f"{first}&cursor=a+b", f"{first}&cursor=c"])

    def test_a_batch_repeats_only_the_items_that_may_pass(self) -> None:
        def answer(seen: Seen) -> Reply:
            items = seen.body["runs"]
            first = len(self.server.of("POST /runs/batch")) == 1
            done = [{"status": 201, "run": run_object(title=item["title"])} for item in items]
            if first:
                done[1] = {"status": 503, "problem": problem(503, "busy").body}
                done[2] = {"status": 403, "problem": problem(403, "quota-exceeded").body}
            return Reply(200, {"data": done})

        self.server.routes["POST /runs/batch"] = answer
        outcomes = self.client.batch({"model": "m", "parameters": {}, "title": name} for name in "abc")
        self.assertEqual([outcome.ok for outcome in outcomes], [True, True, False])
        self.assertIsInstance(outcomes[2].error, holdfast.QuotaExceeded)
        sent = self.server.of("POST /runs/batch")
        self.assertEqual([len(seen.body["runs"]) for seen in sent], [3, 1])
        self.assertEqual(sent[0].body["runs"][1], sent[1].body["runs"][0])

    def test_a_batch_of_many_is_sent_in_requests_of_a_thousand(self) -> None:
        done = {"status": 201, "run": run_object()}
        self.server.routes["POST /runs/batch"] = lambda seen: Reply(200, {"data": [done] * len(seen.body["runs"])})
        outcomes = self.client.batch({"model": "m"} for _ in range(1_001))
        self.assertEqual(len(outcomes), 1_001)
        self.assertEqual([len(seen.body["runs"]) for seen in self.server.seen], [1_000, 1])

    def test_a_run_that_waits_for_approval_is_approved_or_rejected(self) -> None:
        self.on("POST /runs/{id}/approve", Reply(200, run_object()))
        self.on("POST /runs/{id}/reject", Reply(200, run_object(status="CANCELLED")))
        self.client.approve(RUN_ID)
        self.assertEqual(self.client.reject(RUN_ID, reason="too dear")["status"], "CANCELLED")
        self.assertEqual([seen.body for seen in self.server.seen], [{}, {"reason": "too dear"}])

    def test_cancel_and_retry_say_what_they_are_about(self) -> None:
        self.on("POST /runs/{id}/cancel", Reply(202, run_object(status="RUNNING")))
        self.assertEqual(self.client.cancel(RUN_ID)["status"], "RUNNING")
        self.on("POST /runs/{id}/retry", Reply(201, run_object(retry_of=RUN_ID)))
        self.assertEqual(self.client.retry(RUN_ID, idempotency_key='a "b"').key, 'a "b"')
        self.assertEqual(self.server.seen[-1].headers["idempotency-key"], '"a \\"b\\""')

    def test_parameters_that_are_no_json_are_refused_before_anything_is_sent(self) -> None:
        for value in (float("nan"), {1: "a"}, {"deep": [object()]}):
            with self.assertRaises((TypeError, ValueError)):
                self.client.submit("forecast", {"value": value})
        self.assertEqual(self.server.seen, [])

    def test_a_connection_closed_while_idle_is_replaced(self) -> None:
        self.on("GET /runs/{id}", Reply(200, run_object(), {"Connection": "close"}))
        for _ in range(3):
            self.client.get(RUN_ID)
        self.assertEqual(self.slept, [])

    def test_url_and_token_come_from_the_environment(self) -> None:
        program = "import holdfast; c = holdfast.Client(); print(c.url, c._transport._headers['Authorization'])"
        env = {**os.environ, "HOLDFAST_URL": "http://there:1/", "HOLDFAST_TOKEN": "hf_1"}
        folder = os.path.dirname(os.path.abspath(__file__))
        printed = subprocess.run([sys.executable, "-c", program], env=env, cwd=folder, capture_output=True, text=True)
        self.assertEqual(printed.stdout, "http://there:1 Bearer hf_1\n")
        with self.assertRaisesRegex(ValueError, "token"):
            Client("http://user:pass@there")


UPLOADED = {"batch_id": None, "data": [{"file_id": "f" * 64, "duplicate": False, "run_id": None}]}
UPLOAD = "POST /files"


class FileTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server()
        self.addCleanup(self.server.close)
        self.slept: list[float] = []
        self.client = Client(self.server.url, token="t", sleep=self.slept.append)
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name: str, content: bytes = b"") -> str:
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_a_file_is_sent_as_it_is_with_what_is_asked_of_it(self) -> None:
        self.server.routes[UPLOAD] = plan(Reply(201, UPLOADED))
        content = os.urandom(700_000)
        upload = self.client.upload(
            self.path("größe.bin", content), model="reads", parameters={"a": 1}, batch=RUN_ID, idempotency_key="k"
        )
        self.assertEqual(upload["file_id"], "f" * 64)
        [seen] = self.server.of(UPLOAD)
        self.assertEqual(seen.body, content)
        asked = parse_qs(urlsplit(seen.path).query)
        self.assertEqual(
            asked, {"name": ["größe.bin"], "model": ["reads"], "parameters": ['{"a":1}'], "batch": [RUN_ID]}
        )
        self.assertEqual(seen.headers["content-length"], "700000")
        self.assertEqual((seen.headers["idempotency-key"], seen.headers["authorization"]), ('"k"', "Bearer t"))

    def test_an_upload_is_repeated_from_where_its_source_began_with_the_same_key(self) -> None:
        self.server.routes[UPLOAD] = plan(Reply(lost=True), problem(503, "busy"), Reply(201, UPLOADED))
        source = io.BytesIO(b"not this, but this")
        source.seek(10)
        self.client.upload(source, name="x")
        seen = self.server.of(UPLOAD)
        self.assertEqual([one.body for one in seen], [b"but this"] * 3)
        self.assertEqual(len({one.headers["idempotency-key"] for one in seen}), 1)
        self.assertEqual(self.slept, [1, 2])

    def test_a_source_that_cannot_go_back_is_sent_once_and_in_chunks(self) -> None:
        class Pipe(io.RawIOBase):
            pieces = [b"one ", b"two"]

            def readable(self) -> bool:
                return True

            def read(self, _size: int = -1) -> bytes:
                return self.pieces.pop(0) if self.pieces else b""

        self.server.routes[UPLOAD] = plan(problem(503, "busy"))
        with self.assertRaises(holdfast.MaxRetriesExceeded):
            self.client.upload(Pipe())  # type: ignore[arg-type]
        [seen] = self.server.of(UPLOAD)
        self.assertEqual((seen.body, urlsplit(seen.path).query), (b"one two", "name=file"))

    def test_a_refused_upload_is_told_and_not_repeated(self) -> None:
        self.server.routes[UPLOAD] = plan(problem(422, "model-takes-no-file"))
        with self.assertRaises(holdfast.HoldfastError) as raised:
            self.client.upload(self.path("x"), model="none")
        self.assertEqual((raised.exception.code, len(self.server.seen)), ("model-takes-no-file", 1))

    def test_a_download_is_checked_and_repeated_until_it_is_whole(self) -> None:
        content = os.urandom(300_000)
        file_id = hashlib.sha256(content).hexdigest()
        self.server.routes[f"GET /files/{file_id}"] = plan(
            Reply(200, content[:100], length=len(content)), Reply(200, b"x" * 300_000), Reply(200, content)
        )
        to = os.path.join(self.folder, "got")
        self.client.download(file_id, to)
        with open(to, "rb") as file:
            self.assertEqual(file.read(), content)
        self.assertEqual(os.listdir(self.folder), ["got"])

    def test_a_download_that_fails_leaves_what_was_there(self) -> None:
        to = self.path("kept", b"before")
        with self.assertRaises(holdfast.HoldfastError):
            self.client.download("e" * 64, to)
        with open(to, "rb") as file:
            self.assertEqual(file.read(), b"before")
        self.assertEqual(os.listdir(self.folder), ["kept"])


class RandomTest(unittest.TestCase):
    def test_it_draws_the_numbers_that_typescript_draws(self) -> None:
        draw = holdfast.seeded_random(0x1234567890ABC, 2)
        self.assertEqual([draw(), draw(), draw()], TYPESCRIPT_DRAWS)


# seededRandom(0x1234567890abc, 2) of src/run/seed.ts
TYPESCRIPT_DRAWS = [0.965139143383541, 0.05628968862194439, 0.8627498031081573]


def lease(**more: Any) -> dict[str, Any]:
    return {
        "run_id": RUN_ID,
        "attempt": 1,
        "token": "hfa_1",
        "model": "add",
        "model_version": "1",
        "parameters": {"a": 1},
        "seed": 7,
        "timeout_seconds": 60,
        "deadline": "2030-01-02T03:04:05.678Z",
        "lease_seconds": 60,
        **more,
    }


BEAT = {"cancel_requested": False, "lease_seconds": 60}
COMPLETE, FAIL, RELEASE = (f"POST /leases/{{id}}/{end}" for end in ("complete", "fail", "release"))
STREAMS = ("stdout", "stderr", "log")
HEARTBEAT = "POST /leases/{id}/heartbeat"
STEPS = "POST /leases/{id}/steps"


class WorkerCase(unittest.TestCase):
    """A server with leases to give, and a worker that asks it."""

    def setUp(self) -> None:
        self.server = Server()
        self.addCleanup(self.server.close)
        self.leases: list[dict[str, Any]] = []
        self.given = threading.Condition()
        self.workers_ended = 0
        self.server.routes.update(
            {
                "PUT /models/add/1": lambda _seen: Reply(200, {}),
                "POST /leases": self.answer_lease,
                HEARTBEAT: lambda _seen: Reply(200, BEAT),
                STEPS: lambda _seen: Reply(200, {}),
                "POST /leases/{id}/progress": lambda _seen: Reply(200, {"cancel_requested": False}),
                "POST /leases/{id}/logs": lambda _seen: Reply(200, {"cancel_requested": False}),
                **{route: (lambda _seen: Reply(200, {})) for route in (COMPLETE, FAIL, RELEASE)},
            }
        )

    def answer_lease(self, seen: Seen) -> Reply:
        with self.given:
            if seen.body.get("stopping"):
                return Reply(204)
            ended = self.workers_ended
            if not self.leases:
                self.given.wait(0.05)
            if self.workers_ended > ended:
                # Asked by a worker that is gone: the next lease is not for it.
                return Reply(204)
            return Reply(200, {"data": [self.leases.pop(0)]}) if self.leases else Reply(204)

    def give(self, **more: Any) -> None:
        with self.given:
            self.leases.append(lease(**more))
            self.given.notify_all()

    @contextlib.contextmanager
    def working(self, handler: Callable[..., Any], **options: Any) -> Iterator[Worker]:
        retry = options.pop("retry", None)
        settings = {"report_seconds": 0.02, "grace_seconds": 5, "cancel_grace_seconds": 2, **options}
        worker = Worker(self.server.url, name="test", **settings)
        worker.model("add", parameters={"type": "object"}, queue="sums", volatile=["at"], retry=retry)(handler)
        thread = threading.Thread(target=worker.run)
        thread.start()
        try:
            yield worker
        finally:
            worker.stop()
            thread.join(15)
            self.assertFalse(thread.is_alive(), "the worker has not stopped")
            with self.given:
                self.workers_ended += 1


class WorkerTest(WorkerCase):
    def test_a_model_is_registered_and_its_result_is_told_with_the_attempt_token(self) -> None:
        self.give()
        with self.working(lambda parameters, ctx: {"sum": parameters["a"] + ctx.seed}):
            [seen] = self.server.until(COMPLETE)
        self.assertEqual(seen.body, {"result": {"sum": 8}})
        self.assertEqual(seen.headers["holdfast-attempt-token"], "hfa_1")
        [put] = self.server.of("PUT /models/add/1")
        self.assertEqual(put.body["parameters_schema"], {"type": "object"})
        asked = self.server.of("POST /leases")
        self.assertEqual((asked[0].body["worker"], asked[0].body["models"]), ("test", ["add@1"]))
        self.assertEqual(asked[-1].body["stopping"], True)

    def test_functions_of_one_argument_and_coroutine_functions_are_models_too(self) -> None:
        async def later(parameters: Any, _ctx: Context) -> Any:
            return parameters["a"] + 1

        for handler, result in ((lambda parameters: parameters["a"], 1), (later, 2)):
            self.give()
            count = len(self.server.of(COMPLETE)) + 1
            with self.working(handler):
                self.assertEqual(self.server.until(COMPLETE, count)[-1].body, {"result": result})

    def test_an_exception_is_told_with_its_traceback_and_without_frames_of_this_library(self) -> None:
        def boom(_parameters: Any, _ctx: Context) -> None:
            raise ValueError("odd \0 \ud800")

        self.give()
        with self.working(boom):
            [seen] = self.server.until(FAIL)
        error = seen.body["error"]
        self.assertEqual((error["class"], error["message"]), ("ValueError", "odd \ufffd \ufffd"))
        self.assertIn('raise ValueError("odd', error["stack"])
        self.assertNotIn("holdfast.py", error["stack"].replace("test_holdfast.py", ""))
        self.assertNotIn("retryable", error)

    def test_what_a_model_raises_steers_the_retry(self) -> None:
        class Gone(BaseException):
            pass

        cases: list[tuple[BaseException, dict[str, Any]]] = [
            (Fatal("no"), {"class": "Fatal", "retryable": False}),
            (RetryAfter(9), {"class": "RetryAfter", "retry_after_seconds": 9}),
            (SystemExit(3), {"class": "SystemExit"}),
            (Gone("x"), {"class": "Gone"}),
            (Cancelled("mine"), {"class": "Cancelled"}),
        ]
        for error, expected in cases:

            def raising(_parameters: Any, _ctx: Context, error: BaseException = error) -> None:
                raise error

            self.give()
            count = len(self.server.of(FAIL)) + 1
            with self.working(raising):
                told = self.server.until(FAIL, count)[-1].body["error"]
            self.assertEqual({**told, **expected}, told)

    def test_a_result_that_is_no_json_fails_for_good(self) -> None:
        for value in (object(), float("inf"), {1: 2}):
            self.give()
            count = len(self.server.of(FAIL)) + 1
            with self.working(lambda _parameters, value=value: value):
                told = self.server.until(FAIL, count)[-1].body["error"]
            self.assertEqual((told["class"], told["retryable"]), ("ResultNotJson", False))

    def test_a_result_the_service_refuses_fails_for_good(self) -> None:
        self.server.routes[COMPLETE] = plan(problem(413, "body-too-large"))
        self.give()
        with self.working(lambda _parameters: "x" * 100):
            [seen] = self.server.until(FAIL)
        self.assertEqual(seen.body["error"]["class"], "ResultTooLarge")

    def test_a_result_is_told_until_there_is_an_answer(self) -> None:
        self.server.routes[COMPLETE] = plan(
            Reply(lost=True), problem(503, "busy"), problem(500, "internal-error"), Reply()
        )
        self.give()
        with self.working(lambda _parameters: 1):
            seen = self.server.until(COMPLETE, 4)
        self.assertEqual([one.body for one in seen], [{"result": 1}] * 4)
        self.assertEqual(self.server.of(FAIL), [])

    def test_a_cancel_reaches_the_function_by_the_heartbeat_and_is_confirmed(self) -> None:
        self.server.routes[HEARTBEAT] = plan(Reply(200, {**BEAT, "cancel_requested": True}))

        def patient(_parameters: Any, ctx: Context) -> None:
            try:
                ctx.sleep(10)
            except Exception:
                self.fail("Cancelled is no Exception")

        self.give(lease_seconds=0.3)
        with self.working(patient):
            [seen] = self.server.until(FAIL)
        self.assertEqual(seen.body, {"cancelled": True})

    def test_a_success_after_a_cancel_is_told_as_a_success(self) -> None:
        self.server.routes[HEARTBEAT] = plan(Reply(200, {**BEAT, "cancel_requested": True}))

        def deaf(_parameters: Any, ctx: Context) -> str:
            ctx.cancelled.wait(10)
            return "done"

        self.give(lease_seconds=0.3)
        with self.working(deaf):
            self.assertEqual(self.server.until(COMPLETE)[0].body, {"result": "done"})
        self.assertEqual(self.server.of(FAIL), [])

    def test_after_a_lost_lease_nothing_more_is_written(self) -> None:
        reasons: list[Optional[str]] = []
        ended = threading.Event()
        self.server.routes[HEARTBEAT] = plan(problem(409, "lease-lost"))

        def long(_parameters: Any, ctx: Context) -> str:
            ctx.cancelled.wait(10)
            reasons.append(ctx.cancel_reason)
            ctx.progress(1)
            ctx.log("late")
            ended.set()
            return "late"

        self.give(lease_seconds=0.3)
        with self.working(long):
            self.assertTrue(ended.wait(10))
        self.assertEqual(reasons, ["lease-lost"])
        written = [COMPLETE, FAIL, RELEASE, "POST /leases/{id}/progress", "POST /leases/{id}/logs"]
        self.assertEqual([len(self.server.of(route)) for route in written], [0] * 5)

    def test_work_is_told_to_stop_before_a_lease_ends_that_cannot_be_renewed(self) -> None:
        self.server.routes[HEARTBEAT] = plan(Reply(lost=True))
        stopped: list[float] = []
        begun: list[float] = []

        def long(_parameters: Any, ctx: Context) -> None:
            begun.append(time.monotonic())
            ctx.cancelled.wait(10)
            stopped.append(time.monotonic())
            ctx.check_cancelled()

        self.give(lease_seconds=0.6)
        with self.working(long):
            until(lambda: stopped, "the work to stop")
        self.assertLess(stopped[0] - begun[0], 0.6)
        self.assertEqual([len(self.server.of(route)) for route in (COMPLETE, FAIL, RELEASE)], [0, 0, 0])

    def test_a_heartbeat_that_fails_once_is_repeated_in_time(self) -> None:
        self.server.routes[HEARTBEAT] = plan(Reply(lost=True), Reply(lost=True), Reply(200, BEAT))

        def long(_parameters: Any, ctx: Context) -> bool:
            self.server.until(HEARTBEAT, 6)
            return ctx.cancelled.is_set()

        self.give(lease_seconds=0.9)
        with self.working(long):
            self.assertEqual(self.server.until(COMPLETE)[0].body, {"result": False})

    def test_an_attempt_past_its_deadline_is_told_to_stop_and_fails_as_a_timeout(self) -> None:
        self.give(timeout_seconds=0.1)
        with self.working(lambda _parameters, ctx: ctx.sleep(10)):
            self.assertEqual(self.server.until(FAIL)[0].body["error"]["class"], "Timeout")

    def test_progress_is_told_in_its_latest_state_and_logs_in_order(self) -> None:
        def chatty(_parameters: Any, ctx: Context) -> None:
            for number in range(100):
                ctx.progress({"done": number})
                ctx.log(f"line {number}\0")
            ctx.progress(float("nan"))

        self.give()
        with self.working(chatty):
            self.server.until(COMPLETE)
        progress = [seen.body["progress"]["done"] for seen in self.server.of("POST /leases/{id}/progress")]
        self.assertEqual(progress[-1], 99)
        self.assertLess(len(progress), 10)
        logs = self.server.of("POST /leases/{id}/logs")
        text = "".join(piece["text"] for seen in logs for piece in seen.body["pieces"])
        self.assertTrue(text.startswith("info: line 0\ufffd\ninfo: line 1\ufffd\n"))
        self.assertIn("warn: progress left out", text)

    def test_the_latest_cost_is_told_with_the_result(self) -> None:
        def costly(_parameters: Any, ctx: Context) -> str:
            for amount in (float("nan"), -1, True, "1"):
                with self.assertRaises(ValueError):
                    ctx.cost(amount)  # type: ignore[arg-type]
            ctx.cost(1)
            ctx.cost(2.5)
            return "done"

        self.give()
        with self.working(costly):
            self.assertEqual(self.server.until(COMPLETE)[0].body, {"result": "done", "cost": 2.5})

    def test_the_cost_of_a_failure_is_told_with_it(self) -> None:
        def costly(_parameters: Any, ctx: Context) -> None:
            ctx.cost(0.5)
            raise Fatal("it broke")

        self.give()
        with self.working(costly):
            self.assertEqual(self.server.until(FAIL)[0].body["cost"], 0.5)

    def test_a_flood_of_output_is_cut_with_a_marker(self) -> None:
        self.give()
        with self.working(lambda _parameters, ctx: [ctx.log("x" * 8_000) for _ in range(400)] and None):
            self.server.until(COMPLETE)
        logs = self.server.of("POST /leases/{id}/logs")
        text = "".join(piece["text"] for seen in logs for piece in seen.body["pieces"])
        self.assertLess(len(text), 1_100_000)
        self.assertTrue(text.endswith("further output is left out: it is longer than 1048576 characters\n"))
        self.assertLess(max(len(json.dumps(seen.body)) for seen in logs), 200_000)

    def test_what_a_function_prints_goes_to_the_log_of_its_attempt(self) -> None:
        self.give()
        with self.working(lambda _parameters: print("hello"), capture_output=True):
            print("from elsewhere", end="", file=sys.stdout)
            self.server.until(COMPLETE)
        pieces = [piece for seen in self.server.of("POST /leases/{id}/logs") for piece in seen.body["pieces"]]
        self.assertEqual(pieces, [{"stream": "stdout", "text": "hello\n"}])

    def test_a_step_is_kept_before_the_work_goes_on_and_is_called_once(self) -> None:
        calls: list[str] = []

        def work(_parameters: Any, ctx: Context) -> Any:
            first = ctx.step("load", lambda: calls.append("load") or {"n": (3.0, 0.5)})
            first["n"].append("changed")
            kept = len(self.server.of(STEPS))
            return [kept, ctx.step("load", lambda: calls.append("again"))]

        self.give()
        with self.working(work):
            [seen] = self.server.until(COMPLETE)
        # As a later attempt would get it: JSON has one kind of number, and lists.
        self.assertEqual(json.dumps(seen.body["result"]), '[1, {"n": [3, 0.5]}]')
        [step] = self.server.of(STEPS)
        self.assertEqual((step.body["name"], step.body["output"]), ("load", {"n": [3, 0.5]}))
        self.assertEqual(step.headers["holdfast-attempt-token"], "hfa_1")
        started_at = datetime.fromisoformat(step.body["started_at"].replace("Z", "+00:00"))
        self.assertLess(started_at, datetime.now(timezone.utc))
        self.assertEqual(calls, ["load"])

    def test_a_step_of_an_earlier_attempt_is_not_called(self) -> None:
        self.give(attempt=2, steps=[{"name": "load", "output": None}, {"name": "fit", "output": {"n": 1}}])
        with self.working(lambda _parameters, ctx: [ctx.step(name, lambda: "new") for name in ("load", "fit", "test")]):
            [seen] = self.server.until(COMPLETE)
        self.assertEqual(seen.body["result"], [None, {"n": 1}, "new"])
        self.assertEqual([one.body["name"] for one in self.server.of(STEPS)], ["test"])

    def test_a_step_that_is_no_json_has_no_name_or_is_refused_fails_the_attempt(self) -> None:
        self.server.routes[STEPS] = plan(problem(422, "step-conflict"))
        for name, output, expected in (
            ("fit", object(), ("TypeError", None)),
            ("fit", float("nan"), ("ValueError", None)),
            ("zwölf", 1, ("ValueError", None)),
            ("", 1, ("ValueError", None)),
            ("fit", 1, ("Fatal", False)),
        ):
            count = len(self.server.of(FAIL))
            self.give()
            with self.subTest(name=name, output=output):
                with self.working(lambda _parameters, ctx: ctx.step(name, lambda: output)):  # noqa: B023
                    error = self.server.until(FAIL, count + 1)[-1].body["error"]
                self.assertEqual((error["class"], error.get("retryable")), expected)

    def test_a_step_waits_for_a_service_that_is_away_until_the_work_is_to_stop(self) -> None:
        self.server.routes[STEPS] = plan(problem(503, "busy"))
        cancels = threading.Event()
        self.server.routes[HEARTBEAT] = lambda _seen: Reply(200, {**BEAT, "cancel_requested": cancels.is_set()})
        self.give(lease_seconds=0.6)
        with self.working(lambda _parameters, ctx: ctx.step("fit", lambda: 1)):
            self.server.until(STEPS, 2)
            cancels.set()
            self.assertEqual(self.server.until(FAIL)[0].body, {"cancelled": True})

    def test_a_step_is_tried_again_where_it_stands_and_its_tries_are_told(self) -> None:
        calls: list[int] = []

        def flaky() -> int:
            calls.append(1)
            if len(calls) < 3:
                raise OSError("not yet")
            return 7

        self.give()
        with self.working(lambda _parameters, ctx: ctx.step("fit", flaky, delay_seconds=0)):
            [seen] = self.server.until(COMPLETE)
        self.assertEqual(seen.body["result"], 7)
        [step] = self.server.of(STEPS)
        self.assertEqual((step.body["tries"], step.body["output"]), (3, 7))

    def test_a_step_that_was_tried_enough_ends_the_run_with_a_retry_error(self) -> None:
        calls: list[str] = []

        def fails() -> None:
            calls.append("x")
            raise ValueError("still wrong")

        for options, policy, tries, retryable in (
            ({}, None, "4 times", False),
            ({"retries": 0}, None, "once", False),
            ({"no_retry_on": ["ValueError"]}, None, "once", False),
            ({"retry_on": ["OSError"]}, None, "once", False),
            ({"retries": 1}, {"retry_on": ["RetryError"]}, "2 times", None),
        ):
            calls.clear()
            count = len(self.server.of(FAIL))
            self.give()
            with self.subTest(options=options):

                def work(_parameters: Any, ctx: Context) -> Any:
                    return ctx.step('the "fit"', fails, **{"delay_seconds": 0, **options})  # noqa: B023

                with self.working(work, retry=policy):
                    error = self.server.until(FAIL, count + 1)[-1].body["error"]
                self.assertEqual(
                    (error["class"], error["message"], error.get("retryable")),
                    (
                        "RetryError",
                        f'step "the \\"fit\\"" failed {tries}; last error: ValueError: still wrong',
                        retryable,
                    ),
                )
                self.assertIn("still wrong", error["stack"])

    def test_a_step_passes_on_what_no_repeat_can_change(self) -> None:
        for raised, expected in (
            (Fatal("never"), ("Fatal", False, None)),
            (RetryAfter(31), ("RetryAfter", None, 31)),
        ):
            calls: list[str] = []

            def fails() -> None:
                calls.append("x")  # noqa: B023
                raise raised  # noqa: B023

            count = len(self.server.of(FAIL))
            self.give()
            with self.working(lambda _parameters, ctx: ctx.step("fit", fails)):  # noqa: B023
                error = self.server.until(FAIL, count + 1)[-1].body["error"]
            self.assertEqual((error["class"], error.get("retryable"), error.get("retry_after_seconds")), expected)
            self.assertEqual(calls, ["x"])

    def test_a_cancel_ends_the_wait_between_two_tries(self) -> None:
        self.server.routes[HEARTBEAT] = lambda _seen: Reply(200, {**BEAT, "cancel_requested": True})

        def fails() -> None:
            raise ValueError("x")

        self.give(lease_seconds=0.6)
        with self.working(lambda _parameters, ctx: ctx.step("fit", fails, delay_seconds=60, max_delay_seconds=60)):
            self.assertEqual(self.server.until(FAIL)[0].body, {"cancelled": True})

    def test_a_map_does_items_at_once_and_each_is_a_step(self) -> None:
        together = threading.Barrier(2, timeout=10)

        def double(n: int) -> int:
            if n > 1:
                together.wait()
            return n * 2

        self.give(attempt=2, steps=[{"name": "pages[0]", "output": "kept"}])
        with self.working(lambda _parameters, ctx: ctx.map("pages", [1, 2, 3], double, concurrency=2)):
            [seen] = self.server.until(COMPLETE)
        self.assertEqual(seen.body["result"], ["kept", 4, 6])
        steps = [(one.body["name"], one.body["output"]) for one in self.server.of(STEPS)]
        self.assertEqual(sorted(steps[:2]), [("pages[1]", 4), ("pages[2]", 6)])
        self.assertEqual(steps[2:], [("pages", {"items": 3})])

    def test_a_map_begins_nothing_more_after_a_failure(self) -> None:
        done: list[int] = []

        def work(n: int) -> None:
            done.append(n)
            if n == 1:
                raise ValueError("bad page")

        self.give()
        with self.working(lambda _parameters, ctx: ctx.map("pages", range(9), work, concurrency=1, retries=0)):
            error = self.server.until(FAIL)[0].body["error"]
        self.assertEqual(error["message"], 'step "pages[1]" failed once; last error: ValueError: bad page')
        self.assertEqual(done, [0, 1])

    def test_a_name_of_an_item_is_no_name_for_a_step(self) -> None:
        self.give()
        with self.working(lambda _parameters, ctx: ctx.step("pages[3]", lambda: 1)):
            self.assertEqual(self.server.until(FAIL)[0].body["error"]["class"], "ValueError")

    def give_file(self, content: bytes, *replies: Reply, **more: Any) -> str:
        file_id = hashlib.sha256(content).hexdigest()
        href = f"/leases/{RUN_ID}/files/{file_id}"
        file = {"file_id": file_id, "name": "../../Report.PDF", "size": len(content), "type": "application/pdf"}
        files = [{**file, "parameter": one, "href": href} for one in ("/document", "/pages/0", "/pages/1")]
        self.server.routes[f"GET /leases/{{id}}/files/{file_id}"] = plan(*(replies or (Reply(200, content),)))
        self.give(files=files, **more)
        return f"GET /leases/{{id}}/files/{file_id}"

    def test_files_are_fetched_once_with_the_token_when_asked_for_and_removed_at_the_end(self) -> None:
        content = os.urandom(300_000)
        self.give()
        with self.working(lambda _parameters, ctx: [one.name for one in ctx.files]):
            self.assertEqual(self.server.until(COMPLETE)[0].body["result"], [])

        def work(_parameters: Any, ctx: Context) -> Any:
            before = len(self.server.of(route))
            read = ctx.file("document").read() == ctx.files[2].read() == content
            path = ctx.file("document").path
            mode = os.stat(path).st_mode & 0o777
            return [before, read, path, mode, [one.parameter for one in ctx.files]]

        route = self.give_file(content)
        with self.working(work):
            before, read, path, mode, parameters = self.server.until(COMPLETE, 2)[1].body["result"]
        self.assertEqual((before, read, mode), (0, True, 0o400))
        self.assertRegex(path, r"/file-1\.pdf\Z")
        self.assertEqual(parameters, ["/document", "/pages/0", "/pages/1"])
        self.assertFalse(os.path.exists(os.path.dirname(path)))
        [seen] = self.server.of(route)
        self.assertEqual(seen.headers["holdfast-attempt-token"], "hfa_1")

    def test_a_file_that_breaks_off_or_is_refused_for_the_moment_is_fetched_again(self) -> None:
        content = b"x" * 1000
        route = self.give_file(
            content, Reply(200, content[:10], length=1000), problem(503, "busy"), Reply(200, content)
        )
        with self.working(lambda _parameters, ctx: len(ctx.file("document").read())):
            self.assertEqual(self.server.until(COMPLETE)[0].body["result"], 1000)
        self.assertEqual(len(self.server.of(route)), 3)

    def test_a_file_that_cannot_be_had_fails_the_attempt_to_be_tried_again(self) -> None:
        for reply, expected in (
            (problem(500, "file-missing"), "InputFileUnavailable"),
            (Reply(200, b"other bytes"), "InputFileDamaged"),
        ):
            count = len(self.server.of(FAIL))
            self.give_file(b"right bytes", reply)
            with unittest.mock.patch.object(holdfast, "_FILE_RETRIES", 1):
                with self.working(lambda _parameters, ctx: ctx.file("document").path):
                    error = self.server.until(FAIL, count + 1)[-1].body["error"]
            self.assertEqual((error["class"], error.get("retryable")), (expected, None))

    def test_a_lost_lease_ends_the_work_that_asks_for_a_file(self) -> None:
        route = self.give_file(b"x", problem(409, "lease-lost"))
        ended = threading.Event()

        def work(_parameters: Any, ctx: Context) -> Any:
            try:
                return ctx.file("document").read().decode()
            finally:
                ended.set()

        with self.working(work):
            self.server.until(route)
            self.assertTrue(ended.wait(10))
        self.assertEqual(self.server.of(COMPLETE) + self.server.of(FAIL), [])

    def test_a_parameter_without_a_file_is_fatal(self) -> None:
        for parameter, message in (
            ("other", "the parameter other has no file; files are at /document, /pages/0, /pages/1"),
            ("pages", "the parameter pages has 2 files; take them from ctx.files"),
        ):
            count = len(self.server.of(FAIL))
            self.give_file(b"x")
            with self.working(lambda _parameters, ctx: ctx.file(parameter).path):  # noqa: B023
                error = self.server.until(FAIL, count + 1)[-1].body["error"]
            self.assertEqual((error["class"], error["message"], error["retryable"]), ("Fatal", message, False))

    def test_copies_that_a_dead_worker_left_are_removed_at_the_start(self) -> None:
        left = tempfile.mkdtemp(prefix=f"holdfast-files-{holdfast._host_part()}-{2**22 + 1}-")
        mine = tempfile.mkdtemp(prefix=f"holdfast-files-{holdfast._host_part()}-{os.getpid()}-")
        self.addCleanup(shutil.rmtree, mine)
        with self.working(lambda _parameters: None):
            until(lambda: not os.path.exists(left), "what was left is gone")
        self.assertTrue(os.path.exists(mine))

    def test_a_stop_lets_work_end_and_takes_no_more(self) -> None:
        going = threading.Event()
        begun = threading.Event()

        def slow(_parameters: Any) -> str:
            begun.set()
            going.wait(10)
            return "done"

        self.give()
        with self.working(slow) as worker:
            begun.wait(10)
            worker.stop()
            until(worker._stopping.is_set, "the stop")
            self.give(token="hfa_2")
            going.set()
        self.assertEqual(self.server.of(COMPLETE)[0].body, {"result": "done"})
        self.assertEqual(len(self.leases), 1)

    def test_a_stop_releases_what_does_not_end_in_time(self) -> None:
        begun = threading.Event()
        stay = threading.Event()
        self.addCleanup(stay.set)
        reasons: list[Optional[str]] = []

        def deaf(_parameters: Any, ctx: Context) -> None:
            begun.set()
            stay.wait(20)
            reasons.append(ctx.cancel_reason)

        self.give()
        with self.working(deaf, grace_seconds=0.05, cancel_grace_seconds=0.05):
            begun.wait(10)
        self.assertEqual(self.server.of(RELEASE)[0].headers["holdfast-attempt-token"], "hfa_1")
        stay.set()
        until(lambda: reasons, "the function to end")
        self.assertEqual(reasons, ["shutdown"])
        self.assertEqual(self.server.of(COMPLETE), [])

    def test_a_second_stop_ends_the_grace(self) -> None:
        begun = threading.Event()

        def patient(_parameters: Any, ctx: Context) -> None:
            begun.set()
            ctx.sleep(20)

        self.give()
        with self.working(patient, grace_seconds=60) as worker:
            begun.wait(10)
            worker.stop()
        self.assertEqual(len(self.server.of(RELEASE)), 1)

    def test_slots_run_side_by_side_and_no_more_is_asked_for_than_is_free(self) -> None:
        both = threading.Barrier(2)

        def together(_parameters: Any) -> str:
            both.wait(10)
            return "met"

        self.give()
        self.give(token="hfa_2")
        with self.working(together, slots=2):
            self.server.until(COMPLETE, 2)
        asked = [seen.body["slots"] for seen in self.server.of("POST /leases")]
        self.assertEqual(asked[:2], [2, 1])

    def test_a_service_that_is_away_for_a_while_is_asked_again(self) -> None:
        self.server.routes["PUT /models/add/1"] = plan(Reply(lost=True), Reply(200, {}))
        answer = self.server.routes["POST /leases"]
        self.server.routes["POST /leases"] = lambda seen: (
            Reply(lost=True) if len(self.server.of("POST /leases")) == 1 else answer(seen)
        )
        self.give()
        with self.working(lambda _parameters: 1):
            self.server.until(COMPLETE)

    def test_a_model_the_service_refuses_stops_the_worker(self) -> None:
        self.server.routes["PUT /models/add/1"] = plan(problem(422, "invalid-body"))
        worker = Worker(self.server.url)
        worker.model("add")(lambda parameters: parameters)
        with self.assertRaises(holdfast.HoldfastError):
            worker.run()

    def test_a_worker_without_models_and_a_model_offered_twice_are_mistakes(self) -> None:
        worker = Worker(self.server.url)
        with self.assertRaises(ValueError):
            worker.run()
        worker.model("add")(lambda parameters: parameters)
        with self.assertRaisesRegex(ValueError, "offered twice"):
            worker.model("add")(lambda parameters: parameters)
        with self.assertRaisesRegex(ValueError, "no blanks"):
            Worker(self.server.url, name="my worker")
        local = Worker(self.server.url, isolation="process")
        local.model("add")(lambda parameters: parameters)
        with self.assertRaisesRegex(TypeError, "function of a module"):
            local.run()

    def test_a_malformed_lease_does_not_stop_a_worker(self) -> None:
        with self.given:
            self.leases.append({"run_id": RUN_ID})
        self.give()
        with self.working(lambda _parameters: 1):
            self.server.until(COMPLETE)


def returns_twice(parameters: Any, ctx: Context) -> Any:
    print("printed in a child")
    print("in red", file=sys.stderr)
    ctx.log("logged in a child")
    ctx.progress({"pid": os.getpid()})
    return {"twice": parameters["a"] * 2, "token": os.environ.get("HOLDFAST_TOKEN"), "draw": ctx.random()}


def dies(_parameters: Any, _ctx: Context) -> None:
    os._exit(7)


def never_looks(_parameters: Any, ctx: Context) -> None:
    ctx.progress({"pid": os.getpid()})
    while True:
        time.sleep(1)


def does_steps(_parameters: Any, ctx: Context) -> Any:
    return [ctx.step("load", lambda: "not called"), ctx.step("fit", lambda: {"n": 3})]


def uses_memory(_parameters: Any, ctx: Context) -> None:
    ctx.step("big", lambda: len(bytearray(b"x" * 60_000_000)) and sum(range(2_000_000)))
    ctx.step("small", lambda: 1)


def reads_a_file(_parameters: Any, ctx: Context) -> Any:
    return [ctx.file("document").read().decode(), ctx.file("document").path, ctx.step("n", lambda: len(ctx.files))]


def tries_a_step(_parameters: Any, ctx: Context) -> Any:
    try:
        return ctx.step("fit", lambda: 3)
    except Cancelled as stop:
        ctx.log(f"stopped: {stop.reason}")
        raise


class ProcessTest(WorkerCase):
    def test_a_process_commits_its_steps_through_the_worker(self) -> None:
        self.give(attempt=2, steps=[{"name": "load", "output": 1}])
        with self.working(does_steps, isolation="process"):
            [seen] = self.server.until(COMPLETE)
        self.assertEqual(seen.body["result"], [1, {"n": 3}])
        self.assertEqual([one.body["name"] for one in self.server.of(STEPS)], ["fit"])

    def test_a_process_tells_what_its_steps_used(self) -> None:
        self.give()
        with self.working(uses_memory, isolation="process"):
            self.server.until(COMPLETE)
        big, small = [one.body for one in self.server.of(STEPS)]
        self.assertGreaterEqual(big["cpu_seconds"], 0.01)
        if "peak_memory_bytes" in big:
            self.assertGreater(big["peak_memory_bytes"], small["peak_memory_bytes"] + 40_000_000)

    def test_threads_do_not_tell_what_their_steps_used(self) -> None:
        self.give()
        with self.working(uses_memory):
            self.server.until(COMPLETE)
        self.assertFalse([one for one in self.server.of(STEPS) if "cpu_seconds" in one.body])

    def test_a_process_gets_its_files_through_the_worker(self) -> None:
        file_id = hashlib.sha256(b"bytes").hexdigest()
        href = f"/leases/{RUN_ID}/files/{file_id}"
        file = {"parameter": "/document", "file_id": file_id, "name": "a", "size": 5, "type": "text/plain", "href": href}
        self.server.routes[f"GET /leases/{{id}}/files/{file_id}"] = plan(Reply(200, b"bytes"))
        self.give(files=[file])
        with self.working(reads_a_file, isolation="process"):
            text, path, count = self.server.until(COMPLETE)[0].body["result"]
        self.assertEqual((text, count, os.path.exists(path)), ("bytes", 1, False))

    def test_a_step_refused_ends_the_function_in_its_process(self) -> None:
        self.server.routes[STEPS] = plan(problem(422, "step-limit"))
        self.give()
        with self.working(does_steps, isolation="process"):
            error = self.server.until(FAIL)[0].body["error"]
        self.assertEqual((error["class"], error["retryable"]), ("Fatal", False))

    def test_a_cancel_reaches_a_process_that_waits_for_a_step_to_be_kept(self) -> None:
        self.server.routes[STEPS] = plan(problem(503, "busy"))
        cancels = threading.Event()
        self.server.routes[HEARTBEAT] = lambda _seen: Reply(200, {**BEAT, "cancel_requested": cancels.is_set()})
        self.give(lease_seconds=0.6)
        with self.working(tries_a_step, isolation="process"):
            self.server.until(STEPS, 1)
            cancels.set()
            self.assertEqual(self.server.until(FAIL)[0].body, {"cancelled": True})
        pieces = [piece for one in self.server.of("POST /leases/{id}/logs") for piece in one.body["pieces"]]
        self.assertEqual("".join(piece["text"] for piece in pieces), "info: stopped: cancelled\n")

    def test_a_function_in_a_process_of_its_own_reports_prints_and_returns(self) -> None:
        os.environ["HOLDFAST_TOKEN"] = "hf_canary"
        self.addCleanup(os.environ.pop, "HOLDFAST_TOKEN")
        self.give()
        with self.working(returns_twice, isolation="process", capture_output=True):
            [seen] = self.server.until(COMPLETE)
        self.assertEqual((seen.body["result"]["twice"], seen.body["result"]["token"]), (2, None))
        self.assertEqual(seen.body["result"]["draw"], holdfast.seeded_random(7, 1)())
        self.assertNotEqual(self.server.of("POST /leases/{id}/progress")[-1].body["progress"]["pid"], os.getpid())
        pieces = [piece for one in self.server.of("POST /leases/{id}/logs") for piece in one.body["pieces"]]
        texts = {name: "".join(one["text"] for one in pieces if one["stream"] == name) for name in STREAMS}
        expected = {"stdout": "printed in a child\n", "stderr": "in red\n", "log": "info: logged in a child\n"}
        self.assertEqual(texts, expected)

    def test_a_process_that_dies_fails_the_attempt_with_its_exit_code(self) -> None:
        self.give()
        with self.working(dies, isolation="process"):
            error = self.server.until(FAIL)[0].body["error"]
        self.assertEqual((error["class"], error["exit_code"]), ("ProcessCrashed", 7))

    def test_a_cancel_ends_a_process_that_does_not_look(self) -> None:
        cancels = threading.Event()
        self.server.routes[HEARTBEAT] = lambda _seen: Reply(200, {**BEAT, "cancel_requested": cancels.is_set()})
        self.give(lease_seconds=0.6)
        with self.working(never_looks, isolation="process", cancel_grace_seconds=0.1):
            pid = self.server.until("POST /leases/{id}/progress")[0].body["progress"]["pid"]
            cancels.set()
            self.assertEqual(self.server.until(FAIL)[0].body, {"cancelled": True})
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)


if __name__ == "__main__":
    unittest.main()
