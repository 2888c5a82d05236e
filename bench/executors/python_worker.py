"""A remote worker in Python whose model does nothing: ``python_worker.py <url> <slots>``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from holdfast import Worker  # noqa: E402

worker = Worker(sys.argv[1], slots=int(sys.argv[2]), name="bench-python")
PARAMETERS = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


@worker.model("noop_python", parameters=PARAMETERS)
def noop(parameters, ctx):
    return None


worker.run()
