"""A remote worker that runs the Monte Carlo model: `python3 worker.py`.

It takes runs from the service that HOLDFAST_URL names, with the token in HOLDFAST_TOKEN where one is asked for. The model
is declared in remote.yaml, so it is not registered again here.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from holdfast import Worker  # noqa: E402

from model import simulate  # noqa: E402

worker = Worker(slots=2, register=False)
worker.model("monte_carlo", version="1")(simulate)

if __name__ == "__main__":
    worker.run()
