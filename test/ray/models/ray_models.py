"""Models for the tests on a real Ray. They leave marks in the folder they are told of, so that a test can see what ran."""

import os
import subprocess
import sys
import time


def add(parameters, ctx):
    print("adding", len(parameters["numbers"]), "numbers")
    assert "HOLDFAST_TICKET" not in os.environ
    return {"sum": sum(parameters["numbers"]), "seed": ctx.seed, "draw": ctx.random()}


def fail(parameters):
    raise ValueError(f"cannot add {parameters['what']}")


class Fatal(Exception):
    pass


def fail_for_good(parameters):
    raise Fatal("never again")


def wait(parameters, ctx):
    """Counts its start, then waits for a file, deaf to everything."""
    folder = parameters["folder"]
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(os.path.join(folder, "starts"), "a") as file:
        file.write(f"{os.getpid()} {child.pid}\n")
    print("waiting", flush=True)
    end = time.monotonic() + 120
    while not os.path.exists(os.path.join(folder, "go")) and time.monotonic() < end:
        time.sleep(0.05)
    child.kill()
    return {"waited": True}


def on_the_cluster(parameters):
    """Uses Ray as any driver does."""
    import ray

    ray.init(logging_level="error", log_to_driver=False)

    @ray.remote
    def square(number):
        return number * number

    return {"squares": ray.get([square.remote(number) for number in parameters["numbers"]])}
