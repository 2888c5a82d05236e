"""A model that does nothing, for Ray."""


def noop(parameters, ctx=None):
    return None
