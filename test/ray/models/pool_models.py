"""Models for the tests of the Ray pool."""

import os
import time


def add(parameters, ctx):
    print("adding in", os.getpid())
    ctx.progress({"done": 1})
    return {"sum": sum(parameters["numbers"]), "draw": ctx.random()}


def fail(parameters):
    raise KeyError("no such thing")


def deaf(parameters):
    """Does not look at whether it is to stop."""
    with open(os.path.join(parameters["folder"], "started"), "w") as file:
        file.write(str(os.getpid()))
    time.sleep(600)


def die(parameters):
    os._exit(7)
