"""A pool of Ray actors that takes runs from Holdfast by the protocol of remote workers: many short runs without the cost of a
Ray job for each. Needs `ray`, and `holdfast.py` beside it; Holdfast sends both along when it starts the pool as a Ray job.

The driver is a worker of `holdfast.py` with as many slots as there are actors. An attempt goes to a free actor; its result,
its error with the traceback, its progress and what it prints come back. Work that is to stop and does not is ended with its
actor, which is replaced; so is an actor that died, and the attempt fails as after any crash. SIGTERM drains the pool: no more
runs are taken, those that run may end, the rest is handed back.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import os
import queue
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import holdfast
import ray

NEWS_SECONDS = 1.0
"""How often a run that takes longer is asked what it has to tell."""
CANCEL_GRACE_SECONDS = 10.0
DRAIN_SECONDS = 30.0

News = List[Tuple[str, Any]]
log = logging.getLogger("holdfast.pool")


class Printed(io.TextIOBase):
    def __init__(self, tell: Callable[[str, Any], None], stream: str) -> None:
        self._tell = tell
        self._stream = stream

    def write(self, text: str) -> int:
        if text:
            self._tell(self._stream, text)
        return len(text)


@ray.remote(max_restarts=0, max_concurrency=2)
class Runner:
    """One attempt at a time; the second thread is for questions about it."""

    def __init__(self) -> None:
        self._news: News = []
        self._lock = threading.Lock()
        self._context: Optional[holdfast.Context] = None
        self._targets: Dict[str, Callable[..., Any]] = {}
        self._commits: "queue.SimpleQueue[Optional[BaseException]]" = queue.SimpleQueue()

    def run(self, path: str, parameters: Any, facts: Dict[str, Any]) -> Tuple[Optional[str], Optional[Dict[str, Any]], News]:
        commits: "queue.SimpleQueue[Optional[BaseException]]" = queue.SimpleQueue()
        committing = threading.Lock()

        def commit(step: Any) -> None:
            # The driver hears of it when it asks next, and answers. One at a time, so that the next answer is the right one.
            with committing:
                self._tell("step", dict(step))
                refusal = commits.get()
            if refusal is not None:
                raise refusal

        context = holdfast.Context(facts, self._tell, commit)
        self._commits = commits
        self._context = context
        try:
            target = self._targets.get(path) or self._load(path)
        except BaseException as error:
            return None, holdfast._error_of(error), self.news()
        with contextlib.redirect_stdout(Printed(self._tell, "stdout")), contextlib.redirect_stderr(Printed(self._tell, "stderr")):
            outcome = holdfast._carry_out(target, parameters, context)
        self._context = None
        return outcome.result, outcome.error, self.news()

    def stop(self, reason: str) -> None:
        if self._context is not None:
            self._context._stop(reason)
            self._commits.put(holdfast.Cancelled(reason))

    def committed(self, refusal: Optional[BaseException]) -> None:
        self._commits.put(refusal)

    def news(self) -> News:
        with self._lock:
            news, self._news = self._news, []
        return news

    def _tell(self, kind: str, value: Any) -> None:
        with self._lock:
            # Only the latest progress and cost count, and the log has a limit of its own at the other end.
            if kind in ("progress", "cost"):
                self._news = [one for one in self._news if one[0] != kind]
            if len(self._news) < 100_000:
                self._news.append((kind, value))

    def _load(self, path: str) -> Callable[..., Any]:
        module_name, _, function_name = path.partition(":")
        target: Any = importlib.import_module(module_name)
        for part in function_name.split("."):
            target = getattr(target, part)
        self._targets[path] = target
        return target


class RemoteTraceback(Exception):
    """Carries the text of a traceback from an actor into the one that is shown."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])


def raise_as_there(error: Dict[str, Any]) -> None:
    """The same class by name, the same message, and the traceback from there as its cause."""
    name, message = error["class"], error["message"]
    cause = RemoteTraceback(error["stack"]) if error.get("stack") else None
    if "retry_after_seconds" in error:
        kind = type(name, (holdfast.RetryAfter,), {})
        raise kind(error["retry_after_seconds"], message) from cause
    base = holdfast.Fatal if error.get("retryable") is False else Exception
    raise type(name, (base,), {})(message) from cause


class Pool:
    def __init__(self, actors: int, options: Dict[str, Any]) -> None:
        self._options = options
        self._free: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        for _ in range(actors):
            self._free.put(self._new())

    def _new(self) -> Any:
        return Runner.options(**self._options).remote()

    def handler(self, path: str) -> Callable[[Any, holdfast.Context], Any]:
        def run(parameters: Any, context: holdfast.Context) -> Any:
            return self._run(path, parameters, context)

        return run

    def _run(self, path: str, parameters: Any, context: holdfast.Context) -> Any:
        actor = self._free.get()
        try:
            result, error, news = self._follow(actor, path, parameters, context)
        except BaseException:
            # It died, or it did not stop when told. Whoever comes next gets a new one.
            ray.kill(actor, no_restart=True)
            actor = self._new()
            raise
        finally:
            self._free.put(actor)
        self._pass_on(news, context)
        if error is not None:
            raise_as_there(error)
        if result is None:
            # It stopped because it was told to.
            raise holdfast.Cancelled(context.cancel_reason or "cancelled")
        return json.loads(result)

    def _follow(self, actor: Any, path: str, parameters: Any, context: holdfast.Context) -> Tuple[Any, Any, News]:
        facts = {name: getattr(context, name) for name in ("run_id", "attempt", "model", "model_version", "seed", "deadline")}
        facts["steps"] = context._steps
        facts["retry_error_is_final"] = context._is_final
        answer = actor.run.remote(path, parameters, facts)
        told_at: Optional[float] = None
        while True:
            try:
                return ray.get(answer, timeout=0.1 if context.cancelled.is_set() else NEWS_SECONDS)
            except ray.exceptions.GetTimeoutError:
                pass
            if not context.cancelled.is_set():
                news = ray.get(actor.news.remote(), timeout=30)
                self._pass_on(news, context)
                for kind, step in news:
                    if kind == "step":
                        actor.committed.remote(self._refusal_of(step, context))
            elif told_at is None:
                told_at = time.monotonic()
                actor.stop.remote(context.cancel_reason or "cancelled")
            elif time.monotonic() - told_at > CANCEL_GRACE_SECONDS:
                context.check_cancelled()

    @staticmethod
    def _pass_on(news: News, context: holdfast.Context) -> None:
        for kind, value in news:
            if kind != "step":
                context._report(kind, value)

    @staticmethod
    def _refusal_of(step: Any, context: holdfast.Context) -> Optional[BaseException]:
        try:
            if context._commit is not None:
                context._commit(step)
            return None
        except BaseException as error:
            return holdfast._carried(error)


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    settings = json.loads(os.environ["HOLDFAST_RAY_POOL"])
    sys.path.insert(0, os.getcwd())
    ray.init(logging_level="warning", log_to_driver=False)
    worker = holdfast.Worker(
        url=os.environ["HOLDFAST_URL"],
        token=read_token(settings.get("token_file")),
        name=settings["name"],
        queues=[settings["queue"]],
        slots=settings["actors"],
        register=False,
        cancel_grace_seconds=CANCEL_GRACE_SECONDS + 5,
        grace_seconds=float(settings.get("drain_seconds", DRAIN_SECONDS)),
    )
    pool = Pool(settings["actors"], settings.get("actor_options") or {"num_cpus": 1})
    for model in settings["models"]:
        worker.model(model["name"], model["version"])(pool.handler(model["callable"]))
    worker.run()
    ray.shutdown()


def read_token(path: Optional[str]) -> Optional[str]:
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


if __name__ == "__main__":
    main()
