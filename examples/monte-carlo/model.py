"""The price of a European call option by Monte Carlo: seeded, standard library only.

One function, `simulate`, four ways to run it: as a program (`python3 model.py`, the command contract of Holdfast), in a
remote worker (`worker.py`), as a Ray job and in a Ray pool (`model:simulate`). The same parameters give the same result
everywhere; only `metrics.seconds` may differ, which the declarations call volatile.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
from typing import Any, Callable

Z_95 = 1.959963984540054
BLOCK = 10_000


def simulate(parameters: dict[str, Any], ctx: Any = None) -> dict[str, Any]:
    """`ctx` is what a worker or a Ray job gives: it is told about progress and says when to stop."""
    started = time.perf_counter()
    paths, seed = parameters["paths"], parameters["seed"]
    payoff = payoffs(parameters)
    total = squares = 0.0
    done = 0
    while done < paths:
        block = [payoff() for _ in range(min(BLOCK, paths - done))]
        total += math.fsum(block)
        squares += math.fsum(value * value for value in block)
        done += len(block)
        if ctx is not None:
            ctx.progress({"done": done, "of": paths})
    discount = math.exp(-parameters["rate"] * parameters["years"])
    mean = total / paths
    variance = max(0.0, squares / paths - mean * mean) * paths / max(1, paths - 1)
    price, error = discount * mean, discount * math.sqrt(variance / paths)
    return {
        "price": stated(price),
        "standard_error": stated(error),
        "confidence_95": {"low": stated(price - Z_95 * error), "high": stated(price + Z_95 * error)},
        "paths": paths,
        "seed": seed,
        "metrics": {"seconds": round(time.perf_counter() - started, 3)},
    }


def payoffs(parameters: dict[str, Any]) -> Callable[[], float]:
    """One draw per call: what the option pays when the price of the share ends where chance takes it."""
    draw = random.Random(parameters["seed"])
    spot, strike, years = parameters["spot"], parameters["strike"], parameters["years"]
    volatility = parameters["volatility"]
    drift = (parameters["rate"] - volatility * volatility / 2) * years
    spread = volatility * math.sqrt(years)
    return lambda: max(0.0, spot * math.exp(drift + spread * draw.gauss(0.0, 1.0)) - strike)


def stated(value: float) -> float:
    """Ten digits after the point: the last bits of a double may depend on the machine's mathematics."""
    return round(value, 10)


class ProgressFile:
    """Stands in for `ctx` in a program: one line of JSON per report."""

    def __init__(self, path: str | None) -> None:
        self._path = path

    def progress(self, value: Any) -> None:
        if self._path is not None:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps(value) + "\n")


def main() -> None:
    result = simulate(json.load(sys.stdin), ProgressFile(os.environ.get("HOLDFAST_PROGRESS")))
    text = json.dumps(result)
    path = os.environ.get("HOLDFAST_RESULT")
    if path is None:
        print(text)
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
