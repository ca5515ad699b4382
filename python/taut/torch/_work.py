"""Lanes, which carry out calls in the order of their submission, and Work, the handle of a call in flight."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from threading import Event, Lock
from typing import Any, Optional

import torch
import torch.distributed as dist

from .. import _core
from .._errors import Error


class Timeout(Error):
    """A call was not complete after the time that `Work.wait` was given. The call goes on."""


class Work(dist.Work):
    """Handle of a call in flight, as torch.distributed's calls return it.

    `wait` blocks until the call is complete and raises the call's exception. For tensors on a GPU it blocks until all kernels of
    the call are enqueued, and makes the current stream wait for them. `get_future` returns a ``torch.futures.Future`` of the
    call's tensors.
    """

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._device = device
        self._complete = Event()
        self._result: Any = None
        self._error: Optional[Exception] = None
        self._passed: Optional[torch.cuda.Event] = None  # the event that the kernels of the call are done
        self._outcome: torch.futures.Future = torch.futures.Future(devices=[device] if device.type == "cuda" else None)

    def wait(self, timeout: Optional[timedelta] = None) -> bool:
        """Waits for the call; raises `Timeout` if it is not complete in time. None or zero: there is no limit, as in PyTorch."""
        seconds = timeout.total_seconds() if timeout else None
        if not self._complete.wait(seconds):
            raise Timeout(f"the call is not complete after {seconds:g} s; it goes on, and its tensors must not be used yet")
        if self._passed is not None:
            torch.cuda.current_stream(self._device).wait_event(self._passed)
        self._checked()
        return True

    def is_completed(self) -> bool:
        return self._complete.is_set() and (self._passed is None or self._passed.query())

    def is_success(self) -> bool:
        return self.is_completed() and self._error is None

    def exception(self) -> Optional[BaseException]:
        self._complete.wait()
        return self._error

    def result(self) -> list[torch.Tensor]:
        self.wait()
        return self._result if isinstance(self._result, list) else [self._result]

    def synchronize(self) -> None:
        self.wait()

    def get_future(self) -> torch.futures.Future:
        # A future that an exception is set on has no error for C++: then() gives it one.
        return self._outcome.then(lambda _: self._checked())

    def finish(self, result: Any, error: Optional[Exception], passed: Optional[torch.cuda.Event]) -> None:
        """Completes the handle; in the thread of the call."""
        self._result, self._error, self._passed = result, error, passed
        self._complete.set()
        self._outcome.set_result(result)

    def _checked(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._result


class Lane:
    """Thread that carries out calls one after the other, in the order of their submission. The order is the same on all ranks.

    On a GPU the work of calls is on a stream of high priority, beside the program's streams.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="taut")
        self._lock = Lock()
        self._unfinished = 0

    @property
    def idle(self) -> bool:
        """True if all calls are carried out: then a call may be made in the caller's thread, and stays in order."""
        return self._unfinished == 0

    def submit(self, action: Callable[[], Any], device: torch.device, tensors: Sequence[torch.Tensor] = ()) -> Work:
        """Runs `action` in the thread; returns its handle.

        On a GPU the action comes after the work that the caller's stream of `device` has now. `tensors`: those of the caller that
        the action reads or writes; their memory is not used again before the action's kernels are done.
        """
        work, inference = Work(device), torch.is_inference_mode_enabled()
        before = torch.cuda.current_stream(device).record_event() if device.type == "cuda" else None
        with self._lock:
            self._unfinished += 1

        def carry_out() -> None:
            result, error, passed = None, None, None
            with torch.inference_mode(inference), torch.no_grad(), _behind(before, device, tensors) as stream:
                try:
                    result = action()
                except Exception as raised:
                    error = raised
                passed = stream.record_event() if stream is not None else None
                with self._lock:
                    self._unfinished -= 1
                work.finish(result, error, passed)

        self._thread.submit(carry_out)
        return work


@lru_cache(maxsize=None)
def lane_of_gpu(device: torch.device) -> Lane:
    """Returns the lane of all groups on a GPU: NCCL wants the calls of all its communicators in one order on every rank."""
    return Lane()


@lru_cache(maxsize=None)
def _side_stream(device: torch.device) -> "torch.cuda.Stream":
    return torch.cuda.Stream(device, priority=-1)


@contextmanager
def _behind(
    event: Optional[torch.cuda.Event], device: torch.device, tensors: Sequence[torch.Tensor]
) -> Iterator[Optional["torch.cuda.Stream"]]:
    """Puts the block's work on a GPU, that of codecs too, on the side stream, behind an event. Does nothing without an event."""
    if event is None:
        yield None
        return
    stream = _side_stream(device)
    with torch.cuda.stream(stream):
        stream.wait_event(event)
        for tensor in tensors:
            if tensor.is_cuda:
                tensor.record_stream(stream)
        _core.use_stream(stream.cuda_stream)
        yield stream
