"""What runs as a Ray job for one attempt of a Holdfast run. Standard library only, Python 3.9 and later.

Holdfast sends this program along with every job, packed in a variable, so a cluster needs nothing installed. It trades the
ticket it was started with for an attempt token of its own making, gets the parameters in return, runs the model (a Python
callable ``module:function`` or a command), and tells the service how it ended. While the model runs it sends heartbeats;
when the answer is that the attempt was cancelled or is no longer the current one, it ends everything it started.

When the service cannot be reached at the end, the outcome is printed as one line that only the ticket's holder could have
written; the worker that follows the job finds it in the job's log.
"""

from __future__ import annotations

import asyncio
import base64
import ctypes
import errno
import hashlib
import hmac
import importlib
import inspect
import json
import os
import random
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request
from typing import Any, Callable, Dict, List, Optional, Tuple

REQUEST_SECONDS = 30.0
START_SECONDS = 120.0
"""How long the service may be unreachable before a job that has not begun gives up."""
TELL_SECONDS = float(os.environ.get("HOLDFAST_RAY_TELL_SECONDS") or 60)
"""How long the service may be unreachable at the end before the outcome is printed instead."""
FILE_SECONDS = 20.0
"""How long a file may not come as it should before the attempt fails."""
WAIT_INSIDE_SECONDS_MAX = 30.0
"""A longer wait that a step asks for is made by the run: its attempt ends, and the next goes on with the step."""
LINE_BYTES_MAX = 1_000_000
COST_MAX = 1_000_000_000
CANCEL_GRACE_SECONDS = 8.0
KILL_AFTER_SECONDS = 2.0
"""Ray kills three seconds after its SIGTERM; what the model started has to be gone by then."""
LATE_SECONDS = 60.0
"""The worker stops a job whose time is over. When none is there to do it, the job does so itself, this much later."""
OUTPUT_BYTES_MAX = 8 * 1024 * 1024
LAST_LINE_BYTES_MAX = 1024 * 1024
MESSAGE_MAX = 8_000
STACK_MAX = 16_000
NOT_CURRENT = 3
FATAL_EXIT_CODES = frozenset((64, 65, 78))
OURS = frozenset(("HOLDFAST_URL", "HOLDFAST_RAY_TELL_SECONDS"))
"""Of no use to a program; everything else of the node is passed on."""

Outcome = Dict[str, Any]


class NotCurrent(Exception):
    """The attempt is over as far as the service is concerned; nothing that is done for it counts."""


class Unreachable(Exception):
    """No answer from the service, or none that says anything."""


class Damaged(Unreachable):
    """Bytes that are not those of the file: broken off, or changed."""


class InputFileUnavailable(Exception):
    """A file among the parameters could not be had from the service."""


class InputFileDamaged(Exception):
    """What came is not the file that was uploaded."""


class InputFolderFull(Exception):
    """There is no room here for a file among the parameters."""


class RetryError(Exception):
    """A step that was tried as often as its options allow; it ends the run."""

    retryable = False


class Refused(Exception):
    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"the service answered {status} {code}: {detail}")
        self.status = status
        self.retryable = True


class Service:
    """The routes under /leases, for one attempt."""

    def __init__(self, url: str, run_id: str, ticket: str) -> None:
        self._base = f"{url.rstrip('/')}/leases/{run_id}"
        self._ticket = ticket
        self._token = "hfa_" + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")

    def start(self) -> Dict[str, Any]:
        # The same two again are the same trade, so it may be repeated.
        token_hash = hashlib.sha256(self._token.encode()).hexdigest()
        headers = {"Holdfast-Ticket": self._ticket}
        return patiently(START_SECONDS, lambda: self._post("start", {"token_hash": token_hash}, headers))

    def heartbeat(self, progress: Any = None) -> Dict[str, Any]:
        return self._said("heartbeat", {} if progress is None else {"progress": progress})

    def commit(self, step: Dict[str, Any]) -> None:
        patiently(TELL_SECONDS, lambda: self._said("steps", step))

    def fetch(self, file: Dict[str, Any], path: str) -> None:
        """A file among the parameters, checked by its id, which is the SHA-256 of its bytes."""
        patiently(FILE_SECONDS, lambda: self._fetch(file, path))

    def _fetch(self, file: Dict[str, Any], path: str) -> None:
        # The address of the service, from here, may have a path of its own.
        url = f"{self._base}/files/{file['file_id']}"
        request = urllib.request.Request(
            url, headers={"Holdfast-Attempt-Token": self._token, "User-Agent": "holdfast-ray-job"}
        )
        digest = hashlib.sha256()
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as reply, open(path, "wb") as target:
                while True:
                    piece = reply.read(1_048_576)
                    if not piece:
                        break
                    digest.update(piece)
                    target.write(piece)
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise InputFolderFull(f"there is no room for the file {file['file_id']}") from None
            raise Unreachable(f"{type(error).__name__}: {error}") from None
        except Exception as error:  # http.client has errors of its own for replies that break off.
            raise Unreachable(f"{type(error).__name__}: {error}") from None
        if digest.hexdigest() != file["file_id"]:
            raise Damaged(f"what came is not the file {file['file_id']}")
        os.chmod(path, 0o400)

    def tell(self, outcome: Outcome) -> None:
        cost = {"cost": outcome["cost"]} if "cost" in outcome else {}
        if outcome["ok"]:
            patiently(TELL_SECONDS, lambda: self._said("complete", {"result": outcome["result"], **cost}))
        else:
            patiently(TELL_SECONDS, lambda: self._said("fail", {"error": outcome["error"], **cost}))

    def _said(self, what: str, body: Dict[str, Any]) -> Dict[str, Any]:
        return self._post(what, body, {"Holdfast-Attempt-Token": self._token})

    def _post(self, what: str, body: Dict[str, Any], headers: Dict[str, str]) -> Dict[str, Any]:
        request = urllib.request.Request(
            f"{self._base}/{what}",
            data=json.dumps(body, allow_nan=False).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "holdfast-ray-job", **headers},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as reply:
                text = reply.read()
            return json.loads(text) if text.strip() else {}
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except (OSError, ValueError, EOFError) as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from None
        except Exception as error:  # http.client has errors of its own for replies that break off.
            raise Unreachable(f"{type(error).__name__}: {error}") from None

    @staticmethod
    def _refusal(error: urllib.error.HTTPError) -> Exception:
        try:
            problem = json.loads(error.read(65_536))
            code, detail = str(problem["code"]), str(problem.get("detail", ""))
        except Exception:
            # What stands between us and the service does not speak its language.
            return Unreachable(f"an answer {error.code} that does not come from the service")
        if error.code in (401, 403, 404, 409, 410):
            return NotCurrent(f"{code}: {detail}")
        if error.code == 429 or error.code >= 500:
            return Unreachable(f"{error.code} {code}: {detail}")
        return Refused(error.code, code, detail)


def patiently(seconds: float, act: Callable[[], Any]) -> Any:
    """Repeats what cannot be heard, with growing waits, for so long."""
    end = time.monotonic() + seconds
    wait = 0.2
    while True:
        try:
            return act()
        except Unreachable:
            if time.monotonic() + wait > end:
                raise
        time.sleep(wait * (0.5 + random.random() / 2))
        wait = min(wait * 2, 5.0)


class Fatal(Exception):
    """Ends the run: trying again cannot help."""


class Cancelled(BaseException):
    """Raised by ``ctx.check_cancelled()``."""


class InputFiles:
    """The local copies of the files among the parameters, each fetched once, when it is first asked for."""

    def __init__(self, service: Optional[Service], lease: Dict[str, Any]) -> None:
        self.listed: List[Dict[str, Any]] = lease.get("files") or []
        self._service = service
        self._paths: Dict[str, str] = {}
        self._lock = threading.Lock()
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None

    def path(self, file: Dict[str, Any]) -> str:
        with self._lock:
            file_id = file["file_id"]
            if file_id not in self._paths:
                self._folder = self._folder or tempfile.TemporaryDirectory(prefix="holdfast-files-")
                extension = re.search(r"\.[A-Za-z0-9]{1,10}\Z", file["name"])
                name = f"file-{len(self._paths) + 1}{extension.group().lower() if extension else ''}"
                path = os.path.join(self._folder.name, name)
                self._bring(file, path)
                self._paths[file_id] = path
            return self._paths[file_id]

    def _bring(self, file: Dict[str, Any], path: str) -> None:
        try:
            assert self._service is not None
            self._service.fetch(file, path)
        except Damaged as error:
            raise InputFileDamaged(str(error)) from None
        except (Unreachable, Refused) as error:
            raise InputFileUnavailable(f"the file {file['file_id']} could not be had: {error}") from None

    def remove(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


class InputFile:
    """A file among the parameters; ``parameter`` is the JSON pointer to it."""

    def __init__(self, facts: Dict[str, Any], files: InputFiles) -> None:
        self.parameter: str = facts["parameter"]
        self.file_id: str = facts["file_id"]
        self.name: str = facts["name"]
        self.size: int = facts["size"]
        self.type: str = facts["type"]
        self._facts = facts
        self._files = files

    @property
    def path(self) -> str:
        return self._files.path(self._facts)

    def open(self) -> Any:
        return open(self.path, "rb")

    def read(self) -> bytes:
        with self.open() as file:
            return bytes(file.read())


class Context:
    """``ctx``, the second argument of a callable: the same as a worker of `holdfast.py` gives."""

    def __init__(
        self,
        lease: Dict[str, Any],
        commit: Optional[Callable[[Dict[str, Any]], None]] = None,
        files: Optional[InputFiles] = None,
    ) -> None:
        files = files or InputFiles(None, lease)
        self.files = [InputFile(one, files) for one in files.listed]
        self.run_id: str = lease["run_id"]
        self.attempt: int = lease["attempt"]
        self.model: str = lease["model"]
        self.model_version: str = lease["model_version"]
        self.seed: int = int(lease.get("seed") or 0)
        self.deadline: Optional[str] = lease.get("deadline")
        self.cancelled = threading.Event()
        self.cancel_reason: Optional[str] = None
        self._progress: Any = None
        self.cost_said: Optional[float] = None
        self._draw: Optional[Callable[[], float]] = None
        self._commit = commit
        self._steps: Dict[str, Any] = {step["name"]: step["output"] for step in lease.get("steps") or []}

    def check_cancelled(self) -> None:
        if self.cancelled.is_set():
            raise Cancelled(self.cancel_reason or "cancelled")

    def sleep(self, seconds: float) -> None:
        self.cancelled.wait(seconds)
        self.check_cancelled()

    def progress(self, value: Any) -> None:
        try:
            self._progress = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            self.log(f"progress left out: {error}", "warn")

    def cost(self, amount: float) -> None:
        """What this attempt has cost so far, for models with a cost; the latest value counts."""
        is_number = isinstance(amount, (int, float)) and not isinstance(amount, bool)
        if not is_number or not 0 <= amount <= COST_MAX:
            raise ValueError(f"cost: {amount!r} must be a number from 0 to {COST_MAX}")
        self.cost_said = amount

    def file(self, parameter: str) -> InputFile:
        """The one file of a parameter; what it raises otherwise ends the run."""
        pointer = "/" + parameter.replace("~", "~0").replace("/", "~1")
        found = [one for one in self.files if one.parameter == pointer or one.parameter.startswith(f"{pointer}/")]
        if len(found) == 1:
            return found[0]
        raise Fatal(f"the parameter {parameter} has {len(found) or 'no'} file{'s' if len(found) > 1 else ''}")

    def step(
        self,
        name: str,
        function: Callable[[], Any],
        retries: int = 3,
        *,
        delay_seconds: float = 0.2,
        factor: float = 4.0,
        max_delay_seconds: float = 10.0,
    ) -> Any:
        """What the function returns, kept for good; a step that the run has already is not called again. What it raises
        is tried again where it stands, then raised as a RetryError."""
        if name not in self._steps:
            self.check_cancelled()
            tries = 1
            while True:
                try:
                    output = function()
                    break
                except Exception as error:
                    told = failed_by(error)["error"]
                    asked = told.get("retry_after_seconds")
                    if told.get("retryable") is False or (asked or 0) > WAIT_INSIDE_SECONDS_MAX:
                        raise
                    self.check_cancelled()
                    if tries > retries:
                        times = "once" if tries == 1 else f"{tries} times"
                        last = f"last error: {told['class']}: {told['message']}"
                        raise RetryError(f"step {json.dumps(name)} failed {times}; {last}") from error
                    delay = min(delay_seconds * factor ** (tries - 1), max_delay_seconds) * (1 - 0.1 * random.random())
                self.sleep(delay if asked is None else asked)
                tries += 1
            if self._commit is not None:
                self._commit({"name": name, "output": output, **({"tries": tries} if tries > 1 else {})})
            self._steps[name] = json.loads(json.dumps(output, allow_nan=False))
        return json.loads(json.dumps(self._steps[name]))

    def map(
        self,
        name: str,
        items: Any,
        function: Callable[[Any], Any],
        concurrency: int = 4,
        **options: Any,
    ) -> List[Any]:
        """The outputs of the function for all items, in their order, so many at once in threads; each is a step."""
        listed = list(items)
        outputs: Dict[int, Any] = {}
        failures: List[BaseException] = []
        places = iter(range(len(listed)))
        lock = threading.Lock()

        def lane() -> None:
            while True:
                with lock:
                    place = next(places, None) if not failures else None
                if place is None:
                    return
                try:
                    outputs[place] = self.step(f"{name}[{place}]", lambda: function(listed[place]), **options)
                except BaseException as error:
                    failures.append(error)

        threads = [threading.Thread(target=lane, daemon=True) for _ in range(max(1, min(concurrency, len(listed))))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise next((one for one in failures if isinstance(one, Cancelled)), failures[0])
        self.step(name, lambda: {"items": len(listed)})
        return [outputs[place] for place in range(len(listed))]

    def log(self, message: object, level: str = "info") -> None:
        print(f"{level}: {message}", flush=True)

    def random(self) -> float:
        """From 0 up to 1, seeded by the run's seed and the attempt."""
        if self._draw is None:
            self._draw = seeded_random(self.seed, self.attempt)
        return self._draw()

    def take_progress(self) -> Any:
        value, self._progress = self._progress, None
        return value

    def stop(self, reason: str) -> None:
        if self.cancel_reason is None:
            self.cancel_reason = reason
            self.cancelled.set()


def seeded_random(seed: int, stream: int) -> Callable[[], float]:
    """Numbers uniform in [0, 1), the same as everywhere else in Holdfast: sfc32, 53 bits."""
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


# --- Errors -----------------------------------------------------------------------------------------------------------


def failed(name: str, message: str, stack: Optional[str] = None, **more: Any) -> Outcome:
    error = {"class": clean(name, 200) or "Error", "message": clean(message, MESSAGE_MAX), "stack": stack, **more}
    return {"ok": False, "error": error}


def failed_by(error: BaseException) -> Outcome:
    """The traceback begins with the user's first frame."""
    names = {one.__name__ for one in type(error).__mro__}
    frames = error.__traceback__.tb_next if error.__traceback__ else None
    try:
        stack: Optional[str] = "".join(traceback.format_exception(type(error), error, frames))[-STACK_MAX:]
    except Exception:
        stack = None
    more: Dict[str, Any] = {}
    if "Fatal" in names or getattr(error, "retryable", None) is False:
        more["retryable"] = False
    seconds = getattr(error, "seconds", None)
    if "RetryAfter" in names and isinstance(seconds, (int, float)) and seconds >= 0:
        more["retry_after_seconds"] = seconds
    try:
        message = str(error)
    except Exception:
        message = "its text cannot be made"
    return failed(type(error).__name__, message, clean(stack, STACK_MAX) if stack else None, **more)


def clean(text: str, length_max: int) -> str:
    safe = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
    return safe if len(safe) <= length_max else safe[:length_max] + " … [cut]"


def succeeded(value: Any, model: str) -> Outcome:
    try:
        return {"ok": True, "result": json.loads(json.dumps(value, allow_nan=False))}
    except (TypeError, ValueError, RecursionError) as error:
        return failed("ResultNotJson", f"the result of {model} is not JSON: {error}", retryable=False)


# --- A Python callable ------------------------------------------------------------------------------------------------


def run_callable(path: str, parameters: Any, context: Context) -> Outcome:
    """In this process and its main thread, so that it may use Ray as any driver does."""
    module_name, _, function_name = path.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        target: Any = importlib.import_module(module_name)
        for part in function_name.split("."):
            target = getattr(target, part)
    except (Exception, SystemExit) as error:
        return failed_by(error)
    try:
        value = target(parameters, context) if takes_context(target) else target(parameters)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
    except BaseException as error:  # Also one that exits.
        return failed_by(error)
    return succeeded(value, context.model)


def takes_context(target: Callable[..., Any]) -> bool:
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return True
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len(positional) >= 2 or any(one.kind is one.VAR_POSITIONAL for one in parameters)


# --- A command --------------------------------------------------------------------------------------------------------


class Output:
    """Passes one stream of a program on, line by line and up to a limit, without its secrets, and remembers its end."""

    def __init__(self, target: Any, hidden: List[bytes]) -> None:
        self._target = target
        self._hidden = hidden
        self._left = OUTPUT_BYTES_MAX
        self.tail = b""
        self.last_line = b""

    def read(self, source: Any) -> None:
        line = b""
        while True:
            chunk = os.read(source.fileno(), 65_536)
            if not chunk:
                break
            whole, _, line = (line + chunk).rpartition(b"\n")
            if whole or chunk.endswith(b"\n"):
                self._pass_on(whole + b"\n")
            if len(line) > LAST_LINE_BYTES_MAX * 2:
                self._pass_on(line[:LAST_LINE_BYTES_MAX])
                line = line[LAST_LINE_BYTES_MAX:]
        if line:
            self._pass_on(line)

    def _pass_on(self, text: bytes) -> None:
        for line in reversed(text.split(b"\n")):
            if line.strip():
                self.last_line = line
                break
        for secret in self._hidden:
            text = text.replace(secret, b"[redacted]")
        self.tail = (self.tail + text)[-STACK_MAX:]
        if self._left <= 0:
            return
        self._left -= len(text)
        if self._left <= 0:
            text = text[: self._left] + b"\n[further output is left out: it is too long]\n"
        self._target.write(text)
        self._target.flush()


class Command:
    """A program under the command contract: parameters on standard input and in a file, result from a file or the last line."""

    def __init__(self, work: Dict[str, Any], lease: Dict[str, Any], context: Context) -> None:
        self._has_files = bool(context.files)
        self._work = work
        self._lease = lease
        self._context = context
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._folder: Optional[str] = None
        self._told = 0

    def run(self) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
            self._folder = folder
            try:
                return self._run_in(folder)
            finally:
                self.end()

    def end(self) -> None:
        """Nothing of the command's process group is left behind."""
        signal_group(self._process, signal.SIGKILL)

    def terminate(self) -> None:
        signal_group(self._process, signal.SIGTERM)

    def read_progress(self) -> None:
        """The last whole line of the progress file, if there is a new one."""
        if self._folder is None:
            return
        try:
            with open(self._path("progress.jsonl"), "rb") as file:
                file.seek(self._told)
                text = file.read(1_048_576)
        except OSError:
            return
        lines = text[: text.rfind(b"\n") + 1]
        self._told += len(lines)
        for line in reversed(lines.splitlines()):
            try:
                return self._context.progress(json.loads(line))
            except ValueError:
                continue

    def _path(self, name: str) -> str:
        return os.path.join(self._folder or "", name)

    def _run_in(self, folder: str) -> Outcome:
        parameters = json.dumps(self._lease["parameters"], allow_nan=False).encode()
        with open(self._path("parameters.json"), "wb") as file:
            file.write(parameters)
        for name in ("work", "output", "tmp"):
            os.mkdir(self._path(name))
        # Several jobs share the folder that Ray unpacked; what a program writes belongs to its attempt.
        for name in os.listdir(".") if self._work.get("linked") else []:
            os.symlink(os.path.abspath(name), os.path.join(folder, "work", name))
        if self._has_files:
            try:
                self._list_files()
            except (InputFileUnavailable, InputFileDamaged, InputFolderFull, OSError) as error:
                return failed(type(error).__name__, str(error))
        try:
            secrets_read = self._secrets()
            self._process = subprocess.Popen(
                self._work["argv"],
                cwd=self._path("work"),
                env=self._environment(secrets_read),
                stdin=subprocess.PIPE if self._work.get("stdin", True) else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=self._limit,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return failed("CommandNotStarted", f"{self._work['argv'][0]} could not be started: {error}")
        hidden = sorted((value.encode() for value in secrets_read.values() if len(value) >= 4), key=len, reverse=True)
        outputs = [Output(sys.stdout.buffer, hidden), Output(sys.stderr.buffer, hidden)]
        sources = [self._process.stdout, self._process.stderr]
        readers = [threading.Thread(target=one.read, args=(source,), daemon=True) for one, source in zip(outputs, sources)]
        readers.append(threading.Thread(target=self._feed, args=(self._process, parameters), daemon=True))
        for thread in readers:
            thread.start()
        code = self._process.wait()
        # A process that the command left behind may hold its output open for ever.
        for thread in readers[:2]:
            thread.join(0.5)
        self.end()
        for thread in readers[:2]:
            thread.join(5)
        self._read_cost()
        return self._outcome(code, *outputs)

    def _read_cost(self) -> None:
        """The last line of the cost file; what is no amount is left out."""
        try:
            with open(self._path("cost.txt"), "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - 4_096))
                lines = [line for line in file.read(4_096).decode("utf-8", "replace").splitlines() if line.strip()]
        except OSError:
            return
        try:
            if lines:
                self._context.cost(float(lines[-1]))
        except ValueError as error:
            self._context.log(f"cost left out: {error}", "warn")

    def _list_files(self) -> None:
        listed = [
            {
                "parameter": one.parameter,
                "file_id": one.file_id,
                "name": one.name,
                "size": one.size,
                "type": one.type,
                "path": one.path,
            }
            for one in self._context.files
        ]
        with open(self._path("files.json"), "w", encoding="utf-8") as file:
            json.dump(listed, file)

    def _limit(self) -> None:
        die_with_parent()
        memory_mb = self._work.get("memory_mb")
        if memory_mb:
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (memory_mb * 1_048_576, memory_mb * 1_048_576))

    def _secrets(self) -> Dict[str, str]:
        found = {}
        for name, path in (self._work.get("secrets") or {}).items():
            try:
                with open(path, encoding="utf-8") as file:
                    found[name] = re.sub(r"\r?\n\Z", "", file.read(65_536))
            except (OSError, ValueError) as error:
                raise ValueError(f"the file of the secret {name} could not be read: {type(error).__name__}") from None
        return found

    def _environment(self, secrets_read: Dict[str, str]) -> Dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if name not in OURS}
        environment["TMPDIR"] = self._path("tmp")
        environment.update(self._work.get("env") or {})
        environment.update(secrets_read)
        environment.update(
            HOLDFAST_RUN_ID=self._context.run_id,
            HOLDFAST_ATTEMPT=str(self._context.attempt),
            HOLDFAST_SEED=str(self._context.seed),
            HOLDFAST_MODEL=self._context.model,
            HOLDFAST_MODEL_VERSION=self._context.model_version,
            HOLDFAST_PARAMETERS=self._path("parameters.json"),
            HOLDFAST_RESULT=self._path("result.json"),
            HOLDFAST_ERROR=self._path("error.json"),
            HOLDFAST_PROGRESS=self._path("progress.jsonl"),
            HOLDFAST_COST=self._path("cost.txt"),
            HOLDFAST_OUTPUT_DIR=self._path("output"),
        )
        if self._has_files:
            environment["HOLDFAST_FILES"] = self._path("files.json")
        return environment

    @staticmethod
    def _feed(process: "subprocess.Popen[bytes]", parameters: bytes) -> None:
        if process.stdin is None:
            return
        try:
            process.stdin.write(parameters + b"\n")
            process.stdin.close()
        except OSError:
            pass  # It does not read them, or it has ended.

    def _outcome(self, code: int, stdout: Output, stderr: Output) -> Outcome:
        if code != 0:
            return self._failure(code, stderr.tail.decode("utf-8", "replace"))
        wanted = self._work.get("result")
        no_file = "it wrote no file where HOLDFAST_RESULT says"
        if wanted != "last-line":
            try:
                with open(self._path("result.json"), "rb") as file:
                    return self._result(file.read(), "the result file")
            except OSError:
                if wanted == "file":
                    return no_result(no_file)
        line = stdout.last_line
        if not line:
            return no_result(f"{no_file} and it printed nothing to standard output")
        if len(line) > LAST_LINE_BYTES_MAX:
            message = "the last line of the output, taken for the result, is too long: write the result to HOLDFAST_RESULT"
            return failed("ResultTooLarge", message, retryable=False, exit_code=0)
        outcome = self._result(line, "the last line of the output")
        # Ordinary chatter is no broken result.
        if outcome["ok"] or wanted == "last-line" or line.strip()[:1] in (b"{", b"["):
            return outcome
        return no_result(f"{no_file} and the last line of its output is no JSON")

    def _result(self, text: bytes, what: str) -> Outcome:
        try:
            value = json.loads(text.decode("utf-8"), parse_constant=refuse_constant, object_pairs_hook=refuse_twice)
            return succeeded(value, self._context.model)
        except (ValueError, RecursionError) as error:
            return failed("ResultNotJson", f"{what} is not valid JSON: {error}", retryable=False, exit_code=0)

    def _failure(self, code: int, stderr: str) -> Outcome:
        exit_code = code if code >= 0 else 128 - code
        fatal = self._work.get("fatal_exit_codes")
        words = stderr.strip().rpartition("\n")[2].strip()[:500]
        how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        outcome = failed("CommandFailed", f"the program {how}" + (f": {words}" if words else ""), exit_code=exit_code)
        error = outcome["error"]
        if stderr.strip():
            error["stack"] = clean(stderr, STACK_MAX)
        if code > 0 and code in (FATAL_EXIT_CODES if fatal is None else fatal):
            error["retryable"] = False
        try:
            with open(self._path("error.json"), "rb") as file:
                told = json.loads(file.read(262_144))
            texts = {"class": 200, "message": MESSAGE_MAX, "stack": STACK_MAX}
            error.update({name: clean(told[name], size) for name, size in texts.items() if isinstance(told.get(name), str)})
            if isinstance(told.get("retryable"), bool):
                error["retryable"] = told["retryable"]
            if isinstance(told.get("retry_after_seconds"), (int, float)):
                error["retry_after_seconds"] = max(0, told["retry_after_seconds"])
        except (OSError, ValueError, AttributeError):
            pass  # It says nothing of itself, or nothing that can be read.
        error["class"] = error["class"] or "CommandFailed"
        return outcome


def no_result(why: str) -> Outcome:
    return failed("NoResult", f"the program ended with exit code 0 but left no result: {why}", exit_code=0)


def refuse_twice(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    names = dict(pairs)
    if len(names) < len(pairs):
        raise ValueError("a name is given twice in one object")
    return names


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def signal_group(process: "Optional[subprocess.Popen[bytes]]", number: int) -> None:
    if process is None:
        return
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def die_with_parent() -> None:
    """Linux only; elsewhere the command outlives a job that was killed, until it is noticed."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        pass


def leave(status: int) -> None:
    """Ends this process and everything it left running in its group; threads of the model must not keep it alive either."""
    sys.stdout.flush()
    sys.stderr.flush()
    # Ray starts each job as the leader of a group of its own.
    if os.getpgrp() == os.getpid():
        for pid in group_members(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
    os._exit(status)


def group_members(group: int) -> List[int]:
    """The others in it. Linux only."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            if int(fields[2]) == group:
                found.append(int(name))
        except (OSError, ValueError, IndexError):
            continue
    return found


# --- The job ----------------------------------------------------------------------------------------------------------


class Job:
    def __init__(self, service: Service, lease: Dict[str, Any], work: Dict[str, Any]) -> None:
        self._service = service
        self._lease = lease
        self._work = work
        self._files = InputFiles(service, lease)
        self._context = Context(lease, self._commit, self._files)
        self._command = Command(work, lease, self._context) if "argv" in work else None
        self._over = threading.Event()

    def run(self) -> Outcome:
        def on_signal(*_: Any) -> None:
            threading.Thread(target=self.stop, args=("cancelled", KILL_AFTER_SECONDS), daemon=True).start()

        signal.signal(signal.SIGTERM, on_signal)
        threading.Thread(target=self._beat, daemon=True).start()
        try:
            if self._command is not None:
                outcome = self._command.run()
            else:
                outcome = run_callable(self._work["callable"], self._lease["parameters"], self._context)
            said = self._context.cost_said
            return outcome if said is None else {**outcome, "cost": said}
        finally:
            self._over.set()
            self._files.remove()

    def _commit(self, step: Dict[str, Any]) -> None:
        try:
            self._service.commit(step)
        except NotCurrent:
            self._context.stop("lease-lost")
            self._context.check_cancelled()
        except Refused as error:
            error.retryable = False
            raise
        except Unreachable as error:
            # The work goes on; another attempt would do this step again.
            self._context.log(f"the step {step['name']} was not kept: {error}", "warn")

    @property
    def was_stopped(self) -> bool:
        return self._context.cancelled.is_set()

    def stop(self, reason: str, grace_seconds: float) -> None:
        """Asks the model to stop, and ends this process when the grace is over. A model that ends in time says how by itself."""
        self._context.stop(reason)
        if self._command is not None:
            self._command.terminate()
        if self._over.wait(grace_seconds):
            return
        if self._command is not None:
            self._command.end()
        print(f"holdfast: the attempt was ended: {reason}", file=sys.stderr, flush=True)
        leave(128 + signal.SIGTERM)

    def _beat(self) -> None:
        every = max(0.2, float(self._lease.get("lease_seconds") or 60) / 3)
        give_up = time.monotonic() + float(self._lease.get("timeout_seconds") or 86_400) + LATE_SECONDS
        next_beat = time.monotonic() + every
        while not self._over.wait(min(1.0, every)):
            if self._command is not None:
                self._command.read_progress()
            if time.monotonic() > give_up:
                return self.stop("timeout", CANCEL_GRACE_SECONDS)
            progress = self._context.take_progress()
            if progress is None and time.monotonic() < next_beat:
                continue
            next_beat = time.monotonic() + every
            try:
                if self._service.heartbeat(progress).get("cancel_requested"):
                    return self.stop("cancelled", CANCEL_GRACE_SECONDS)
            except NotCurrent as error:
                print(f"holdfast: {error}", file=sys.stderr, flush=True)
                return self.stop("lease-lost", 0)
            except (Unreachable, Refused):
                pass  # The worker keeps the lease; the work goes on.


def outcome_line(outcome: Outcome, ticket: str) -> str:
    body = base64.urlsafe_b64encode(json.dumps(outcome, allow_nan=False).encode()).decode().rstrip("=")
    if len(body) > LINE_BYTES_MAX:
        small = failed(
            "ResultTooLarge",
            "the service could not be reached from the cluster, and the result is too large for the log",
        )
        return outcome_line(small, ticket)
    return f"HOLDFAST-OUTCOME v1 {body} {hmac.new(ticket.encode(), body.encode(), hashlib.sha256).hexdigest()}"


def tell(service: Service, outcome: Outcome, ticket: str) -> None:
    try:
        try:
            service.tell(outcome)
        except Refused as error:
            name = "ResultTooLarge" if error.status == 413 else "ResultRefused"
            service.tell(failed(name, str(error), retryable=False))
    except NotCurrent as error:
        print(f"holdfast: {error}", file=sys.stderr, flush=True)
    except (Unreachable, Refused) as error:
        print(
            f"holdfast: the service cannot be told the outcome ({error}); it is in the next line",
            file=sys.stderr,
            flush=True,
        )
        sys.stdout.write("\n" + outcome_line(outcome, ticket) + "\n")


def main() -> int:
    environ = os.environ
    # Out of the environment before anything of the user's runs.
    ticket = environ.pop("HOLDFAST_TICKET")
    work = json.loads(environ.pop("HOLDFAST_RAY_WORK"))
    service = Service(environ["HOLDFAST_URL"], environ["HOLDFAST_RUN_ID"], ticket)
    try:
        lease = service.start()
    except NotCurrent as error:
        print(f"holdfast: this attempt is not to be run ({error})", file=sys.stderr, flush=True)
        return NOT_CURRENT
    except (Unreachable, Refused) as error:
        outcome = failed(
            "ServiceUnreachable", f"the job could not get its parameters from {environ['HOLDFAST_URL']}: {error}"
        )
        sys.stdout.write("\n" + outcome_line(outcome, ticket) + "\n")
        return 1
    job = Job(service, lease, work)
    outcome = job.run()
    sys.stdout.flush()
    # What a model does after it was told to stop is the answer to that; only a success is news.
    if job.was_stopped and not outcome["ok"]:
        return 128 + signal.SIGTERM
    tell(service, outcome, ticket)
    return 0 if outcome["ok"] else 1


if __name__ == "__main__":
    leave(main())
