"""Quantities that users derive from values, to see what a bound does to these."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

import numpy as np

from .._errors import ArgumentError

Definition = Union[str, Callable[[Any], Any]]

KNOWN = {
    "mean": "np.nanmean(x)",
    "std": "np.nanstd(x)",
    "min": "np.nanmin(x)",
    "max": "np.nanmax(x)",
    "sum": "np.nansum(x, dtype=np.float64)",
    "energy": "np.nansum(np.abs(x).astype(np.float64)**2)",
    "sqrt": "np.sqrt(x)",
    "log": "np.log(x)",
}
NAMES = {"np": np, "abs": abs, "min": min, "max": max, "sum": sum, "len": len, "float": float, "int": int, "range": range}


def quantities_of(given: Optional[Union[dict[str, Definition], Sequence[str]]]) -> dict[str, Callable[[Any], Any]]:
    """Returns a function for each quantity: NAME of a known one, NAME=EXPRESSION, or a function by name."""
    if given is None:
        return {}
    if isinstance(given, dict):
        pairs = dict(given)
    else:
        split = [one.partition("=") for one in given]
        pairs = {name.strip(): expression or _known(name.strip()) for name, _, expression in split}
    return {name: _guarded(name, one if callable(one) else _compiled(name, one)) for name, one in pairs.items()}


def _known(name: str) -> str:
    if name not in KNOWN:
        raise ArgumentError(f"--quantity {name}: is none of {', '.join(KNOWN)}; give others as NAME=EXPRESSION, with x for the values")
    return KNOWN[name]


def _compiled(name: str, expression: str) -> Callable[[Any], Any]:
    """Returns the function of an expression that the user wrote."""
    try:
        code = compile(expression.strip(), f"--quantity {name}", "eval")
    except SyntaxError as error:
        raise ArgumentError(f"--quantity {name}: {error.msg}; write an expression of Python, such as (x**2).sum()") from None
    return lambda x: eval(code, {"__builtins__": {}, **NAMES, "x": x})


def _guarded(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # numpy.nanmean of nothing
                return np.asarray(function(x), np.complex128 if np.iscomplexobj(x) else np.float64)
        except Exception as error:
            raise ArgumentError(f"--quantity {name}: {type(error).__name__}: {error}; the values are x, of {x.ndim} dimensions, "
                                "and NumPy is np") from error  # fmt: skip

    return call
