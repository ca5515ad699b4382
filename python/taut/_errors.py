"""Exceptions. Each message names the error and, if there is one, the remedy."""

from typing import Optional


class Error(RuntimeError):
    """Base of all exceptions of this package that the library reports.

    Attributes
    ----------
    status : int
        Number of the error in ``enum TAUT_Status`` of taut.h.
    """

    status = 99

    def __init__(self, message: str, status: Optional[int] = None) -> None:
        super().__init__(message)
        if status is not None:
            self.status = status


class BoundWarning(UserWarning):
    """A bound leaves little or nothing of the values that it is for."""


class ArgumentError(Error, ValueError):
    """An argument or a count is invalid."""

    status = 1


class DTypeError(Error, TypeError):
    """The type of the values is not coded, or not under this bound."""

    status = 3


class PolicyError(Error, ValueError):
    """A bound or an option is invalid or not supported; the message names its column."""

    status = 4


class FrameError(Error, ValueError):
    """The bytes are not a compressed array, or are damaged."""

    status = 20


class RankMismatchError(Error):
    """The ranks' calls differ in count, type, operator, bound or codec."""

    status = 40


class PeerError(Error):
    """Another rank failed, and its contribution is missing."""

    status = 41


class OutOfMemoryError(Error, MemoryError):
    """A rank is out of memory for a call."""

    status = 60


_CLASSES = {
    1: ArgumentError,
    2: ArgumentError,
    3: DTypeError,
    4: PolicyError,
    20: FrameError,
    21: FrameError,
    22: FrameError,
    40: RankMismatchError,
    41: PeerError,
    60: OutOfMemoryError,
}


def class_of(status: int) -> type[Error]:
    """Returns the exception class for a number of ``enum TAUT_Status``."""
    return _CLASSES.get(status, Error)


def error_of(status: int, message: str) -> Error:
    """Returns the exception for a status and a message."""
    return class_of(status)(message, status)
