"""Work: handle of a collective in flight, as torch.distributed's calls return it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from threading import Event
from typing import Any, Optional

import torch
import torch.distributed as dist

from .._errors import Error


class Timeout(Error):
    """A call was not complete after the time that `Work.wait` was given. The call goes on."""


class Work(dist.Work):
    """Handle of a collective call in flight.

    `wait` blocks until the call is complete and raises the call's exception. `get_future` returns a
    ``torch.futures.Future`` of the call's tensor.
    """

    def __init__(self, future: torch.futures.Future) -> None:
        super().__init__()
        self._future = future
        self._complete = Event()
        future.add_done_callback(lambda _: self._complete.set())

    def wait(self, timeout: Optional[timedelta] = None) -> bool:
        """Waits for the call; raises `Timeout` if it is not complete in time. None or zero: there is no limit, as in PyTorch."""
        seconds = timeout.total_seconds() if timeout else None
        if not self._complete.wait(seconds):
            raise Timeout(f"the call is not complete after {seconds:g} s; it goes on, and its tensors must not be used yet")
        self._future.wait()
        return True

    def is_completed(self) -> bool:
        return self._future.done()

    def is_success(self) -> bool:
        return self._future.done() and self.exception() is None

    def exception(self) -> Optional[BaseException]:
        try:
            self._future.wait()
        except Exception as error:
            return error
        return None

    def result(self) -> list[torch.Tensor]:
        return [self._future.wait()]

    def get_future(self) -> torch.futures.Future:
        return self._future


class Worker:
    """Thread that carries out calls in the order of their submission, which is the same on all ranks."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="taut")

    def submit(self, action: Callable[[], Any], device: torch.device) -> torch.futures.Future:
        """Runs `action` in the thread; returns a future of its result.

        On a GPU the action comes after the work that the caller's stream of `device` has now. The future is complete when all
        work of the action is done, so that its result is there for any stream.
        """
        done: torch.futures.Future = torch.futures.Future()
        before = torch.cuda.current_stream(device).record_event() if device.type == "cuda" else None

        def carry_out() -> None:
            try:
                with torch.no_grad(), _behind(before, device):
                    result = action()
            except Exception as error:
                done.set_exception(error)
            else:
                done.set_result(result)

        self._thread.submit(carry_out)
        return done


@contextmanager
def _behind(event: Optional[torch.cuda.Event], device: torch.device) -> Iterator[None]:
    """Puts the block's work on a GPU behind an event, on the device's default stream, on which the codecs work; at the end of the
    block waits for that stream. Does nothing without an event."""
    if event is None:
        yield
        return
    stream = torch.cuda.default_stream(device)
    with torch.cuda.stream(stream):
        stream.wait_event(event)
        yield
        stream.synchronize()
