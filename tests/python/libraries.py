"""The libraries that have arrays on a GPU, as far as they are installed: how each makes an array, and what is in one."""

import importlib

import numpy as np

NAMES = ["cupy", "torch", "jax"]


def reason_against(name):
    """Returns why a library cannot make arrays on a GPU here; None if it can."""
    try:
        made = array(name, np.ones(3, np.float32))
        return None if contents(made).tobytes() == np.ones(3, np.float32).tobytes() else f"{name} makes other arrays"
    except Exception as error:  # of any library
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def has(name, dtype):
    """Returns true if a library keeps values of a type as they are."""
    try:
        return contents(array(name, np.zeros(1, dtype))).dtype == dtype
    except (TypeError, ValueError):
        return False


def array(name, values):
    """Returns an array of the library in memory of the GPU, with the values and the type of a NumPy array."""
    library = importlib.import_module(name)
    if name == "cupy":
        return library.asarray(values)
    if name == "torch":
        if values.dtype.name == "bfloat16":
            return library.from_numpy(np.array(values, order="C").view(np.int16)).cuda().view(library.bfloat16)
        return library.from_numpy(np.array(values, order="C")).cuda()
    return library.device_put(np.array(values, order="C"), library.devices("cuda")[0])


def contents(array):
    """Returns the values of an array as a NumPy array."""
    kind = type(array).__module__.partition(".")[0]
    if kind == "cupy":
        return array.get()
    if kind == "torch":
        array = array.detach().cpu()
        if str(array.dtype) == "torch.bfloat16":
            import ml_dtypes

            return array.view(importlib.import_module("torch").int16).numpy().view(ml_dtypes.bfloat16)
        return array.numpy()
    return np.asarray(array)
