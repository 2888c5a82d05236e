"""Holds the worker of holdfast.py to one case of the remote worker protocol: ``python3 conformance.py <url>``.

At the url is the scripted server of test/conformance/leases, which knows the case and judges. Prints each failure and
exits with 1 when there is one.
"""

from __future__ import annotations

import builtins
import json
import logging
import sys
import threading
import time
import urllib.request
from typing import Any

import holdfast
from holdfast import Context, Fatal, Worker

# The pauses of the worker itself stay short.
holdfast._FILE_RETRIES = 1

_STOP_SECONDS_MAX = 20.0


def ask(url: str, path: str) -> Any:
    with urllib.request.urlopen(f"{url}/conformance/{path}", timeout=10) as answer:
        return json.load(answer)


def error_class(name: str) -> type[BaseException]:
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, Exception):
        return known
    return type(name, (Exception,), {})


def carry_out(acts: list[dict[str, Any]], parameters: Any, ctx: Context) -> Any:
    """What the model does, as the case says."""
    returned: dict[str, Any] = {}
    for act in acts:
        what = act["do"]
        if what == "return":
            return act.get("value")
        if what == "return-parameters":
            return parameters
        if what == "throw":
            raise error_class(act["class"])(act["message"])
        if what == "throw-fatal":
            raise Fatal(act["message"])
        if what == "progress":
            ctx.progress(act["value"])
        elif what == "log":
            ctx.log(act["text"])
        elif what == "step":
            returned[act["name"]] = ctx.step(act["name"], lambda act=act: act["output"])
        elif what == "read-file":
            ctx.file(act["parameter"]).read()
        elif what == "return-file":
            return ctx.file(act["parameter"]).read().decode()
        elif what == "return-steps":
            return returned
        elif what == "until-aborted":
            ctx.cancelled.wait()
            ctx.check_cancelled()
        else:
            raise Fatal(f"this harness does not know the act {what}")
    return None


def play(url: str) -> list[str]:
    case = ask(url, "case")
    given = case["worker"]
    worker = Worker(
        url,
        name=given["name"],
        queues=given.get("queues"),
        slots=given.get("slots", 1),
        register=False,
        wait_seconds=1,
        heartbeat_seconds=60,
        report_seconds=0.05,
        grace_seconds=1,
        cancel_grace_seconds=1,
    )
    for model in given["models"]:
        name, _, version = model.partition("@")
        worker.model(name, version or "1")(lambda parameters, ctx: carry_out(case["program"], parameters, ctx))
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    due = time.monotonic() + case.get("within_ms", 10_000) / 1_000
    failures: list[str] = []
    while not ask(url, "done")["done"]:
        if time.monotonic() > due:
            failures.append("what the case waits for has not come in time")
            break
        time.sleep(0.02)
    worker.stop()
    thread.join(_STOP_SECONDS_MAX)
    if thread.is_alive():
        failures.append(f"the worker has not stopped within {_STOP_SECONDS_MAX} s")
    verdict = ask(url, "verdict")
    return failures + ([] if verdict["ok"] else list(verdict["failures"]))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    found = play(sys.argv[1])
    for failure in found:
        print(failure)
    sys.exit(1 if found else 0)
