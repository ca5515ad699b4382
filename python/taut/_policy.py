"""Policies: an error bound and options, as one text."""

from contextlib import contextmanager
from contextvars import ContextVar
from typing import Iterator, Optional, Protocol, Union

from . import _core

_current: ContextVar[Optional["Policy"]] = ContextVar("taut_policy", default=None)


class Policy:
    """A checked policy: an error bound and options.

    Parameters
    ----------
    bound
        ``"abs:1e-4"``, ``"rel:1e-3"``, ``"psnr:80"``, ``"snap:1e-4"``, ``"pwrel:1e-3"``, ``"rate:8"``, ``"block:8"``, ``"lossless"``
        or ``"off"``, possibly followed by options: ``"abs:1e-4,on=input,codec=planes"`` (docs/configuration.md).
    **options
        Further options by name: ``on="input"``, ``codec="planes"``, ``algorithm="ring"``, ``min_bytes="64KiB"``,
        ``when="always"``, ``segments=8``, ``same_bits=True``, ``checksum=True``, ``dims=(100, 500, 500)`` and others.

    Raises
    ------
    PolicyError
        If the policy is invalid; the message names option, column and remedy.

    Examples
    --------
    >>> Policy("abs:1e-4", on="input", checksum=True)
    Policy('abs:1e-4,on=input,checksum=on')
    >>> Policy("abs:-1")
    Traceback (most recent call last):
        ...
    taut.PolicyError: policy 'abs:-1', column 5: bound 'abs:-1' is not a positive number; write abs:1e-4
    """

    __slots__ = ("text",)

    def __init__(self, bound: Union[str, "Policy"], **options: object) -> None:
        self.text = _core.check_policy(policy_text(bound, options))

    @classmethod
    def _unread(cls, text: str) -> "Policy":
        """Returns an unchecked policy for communicators, whose ranks check it together."""
        made = cls.__new__(cls)
        made.text = text
        return made

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Policy({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class Holder(Protocol):
    """An object with a policy that can be changed: `Comm`."""

    def Get_policy(self) -> Optional[Policy]: ...

    def Set_policy(self, bound: Optional[Policy]) -> None: ...


def policy_text(bound: Union[str, Policy, None], options: dict[str, object]) -> str:
    """Returns the text of a policy from a bound and options."""
    return ",".join(["" if bound is None else str(bound), *(f"{name}={_text_of(value)}" for name, value in options.items())])


def _text_of(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (tuple, list)):
        return "x".join(map(str, value))
    return str(value)


def current_policy() -> Optional[Policy]:
    """Returns the policy of the innermost `policy` block of this thread."""
    return _current.get()


@contextmanager
def policy(bound: Union[str, Policy], *comms: Holder, **options: object) -> Iterator[Policy]:
    """Sets a policy for a block: the default policy, or the policy of the given communicators.

    Without communicators the policy is the default bound of `compress` and `Comm` within the block. With communicators it is
    their policy until the end of the block, which restores their previous policy. Setting and restoring the policy is
    collective over each communicator, and no request may be in flight then.

    Parameters
    ----------
    bound, **options
        As for `Policy`.
    *comms : Comm
        Communicators to change.

    Examples
    --------
    >>> import numpy as np, taut
    >>> wave = np.sin(np.linspace(0, 9, 100_000, dtype=np.float32))
    >>> with taut.policy("abs:1e-4"):
    ...     packed = taut.compress(wave)
    >>> bool(np.abs(taut.decompress(packed) - wave).max() <= 1e-4)
    True
    """
    chosen = Policy._unread(policy_text(bound, options)) if comms else Policy(bound, **options)
    token = None if comms else _current.set(chosen)
    before = [comm.Get_policy() for comm in comms]
    try:
        for comm in comms:
            comm.Set_policy(chosen)
        yield chosen
    finally:
        for comm, old in zip(comms, before):
            comm.Set_policy(old)
        if token is not None:
            _current.reset(token)
