"""Update: the pieces of one call, on their way from the ranks that own them to the others.

The owner encodes each piece as what has changed since the values that it believes the others to have; they decode it over
these values. Frames name the values they refer to by a number over all their bits. A rank whose values are others finds out
before it writes any; then the owner sends this piece anew, without reference.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Optional

import torch

from .. import _core
from .._errors import FrameError, PeerError
from . import _frames
from ._exchange import HOST, Exchange
from ._pieces import Piece

CODING = "lossless,threads=1"
SHIPMENT_BYTES = 1 << 20  # frames that are sent at once have at least so many bytes, if there are more
MOST_AHEAD = 32  # pieces that are encoded before they are sent, or received before they are decoded
FAILED = -1  # in place of the number of frames: the owner failed to encode one

Rows = Sequence[torch.Tensor]
Encode = Callable[[int], bytes]  # of a piece, by its index


class KeptValues:
    """The owner's own copy of what it sent last."""

    def __init__(self) -> None:
        self._values: dict[int, torch.Tensor] = {}

    def before(self, index: int, piece: Piece) -> Optional[torch.Tensor]:
        return self._values.get(index)

    def sent(self, index: int, piece: Piece, values: torch.Tensor) -> None:
        if index in self._values:
            self._values[index].copy_(values)
        else:
            self._values[index] = values.clone()


class GivenValues:
    """The values before the step, which the caller keeps."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def before(self, index: int, piece: Piece) -> Optional[torch.Tensor]:
        return piece.read(self._rows)

    def sent(self, index: int, piece: Piece, values: torch.Tensor) -> None:
        pass


class ReceivedValues:
    """The owner's block of the array that all ranks receive. It has the values of the last call, and gets those of this one."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def before(self, index: int, piece: Piece) -> Optional[torch.Tensor]:
        return piece.read(self._rows)

    def sent(self, index: int, piece: Piece, values: torch.Tensor) -> None:
        block = piece.read(self._rows)
        block.copy_(values)
        piece.write(self._rows, block)


class Update:
    """One call on the ranks of an exchange. It runs in the thread of the exchange, and codes in threads of its own."""

    def __init__(
        self, exchange: Exchange, pieces: Sequence[Piece], values: Rows, room: Rows, old: "KeptValues | GivenValues | ReceivedValues",
        threads: int,
    ) -> None:  # fmt: skip
        self._exchange = exchange
        self._pieces = pieces
        self._values = values  # that this rank sends
        self._room = room
        self._old = old
        self._threads = threads
        self._failure: Optional[Exception] = None  # of decoding on this rank
        self._owners = sorted({piece.owner for piece in pieces})
        self.frame_bytes = 0  # of all owners
        self.resent_bytes = 0  # values that were sent anew, because a rank had others than the owner believed

    def run(self) -> None:
        with torch.inference_mode():  # which may write to all tensors
            refused = self._round(range(len(self._pieces)), self._encode_change)
            if refused:
                self.resent_bytes = sum(self._pieces[index].nbytes for index in refused)
                if self._round(refused, self._encode_whole):
                    raise FrameError("a rank could not decode values that were sent without a reference")

    def _round(self, indices: Sequence[int], encode: Encode) -> list[int]:
        """Sends pieces; returns those that a rank refused, the same on all ranks."""
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="taut-code")
        try:
            return self._agree(self._transfer(indices, encode, pool))
        finally:
            pool.shutdown(cancel_futures=True)

    def _transfer(self, indices: Sequence[int], encode: Encode, pool: ThreadPoolExecutor) -> torch.Tensor:
        """Returns this rank's votes: for each piece 1 if it refused it, for each rank 1 if it failed."""
        rank = self._exchange.rank
        own = [index for index in indices if self._pieces[index].owner == rank]
        sender = _Sender(own, encode, pool)
        awaited = {owner: deque(i for i in indices if self._pieces[i].owner == owner) for owner in self._owners}
        votes = torch.zeros(len(self._pieces) + self._exchange.ranks, dtype=torch.int32)
        decoding: deque[tuple[int, Future]] = deque()
        while any(awaited.values()):
            for owner, part in self._ship(sender.next_part()):
                for frame in _frames_of(part, owner, sender):
                    index = awaited[owner].popleft()
                    self.frame_bytes += frame.numel()
                    if owner != rank:
                        decoding.append((index, pool.submit(self._decode, self._pieces[index], frame)))
            self._count(decoding, votes, MOST_AHEAD)
        self._count(decoding, votes, 0)
        return votes

    def _ship(self, part: torch.Tensor) -> list[tuple[int, torch.Tensor]]:
        """Sends this rank's part; returns the parts of all owners."""
        if len(self._owners) == 1:
            return [(self._owners[0], self._exchange.spread_from(self._owners[0], part))]
        parts = self._exchange.spread(part)
        return [(owner, parts[owner]) for owner in self._owners]

    def _count(self, decoding: "deque[tuple[int, Future]]", votes: torch.Tensor, most: int) -> None:
        """Waits until at most `most` pieces are being decoded."""
        while len(decoding) > most:
            index, done = decoding.popleft()
            try:
                votes[index] += done.result()
            except Exception as error:
                self._failure = error
                votes[len(self._pieces) + self._exchange.rank] = 1

    def _agree(self, votes: torch.Tensor) -> list[int]:
        self._exchange.plain_reduction(votes, "sum")
        failed = votes[len(self._pieces) :].nonzero().flatten().tolist()
        if failed:
            raise self._failure or PeerError(f"rank {failed[0]} of the group could not decode; its own error says why")
        return votes.nonzero().flatten().tolist()

    def _encode_change(self, index: int) -> bytes:
        piece = self._pieces[index]
        with torch.inference_mode():
            values, before = piece.read(self._values), self._old.before(index, piece)
            frame = _encoded(values, [] if before is None else [before.data_ptr()])
            self._old.sent(index, piece, values)
        return frame

    def _encode_whole(self, index: int) -> bytes:
        with torch.inference_mode():
            return _encoded(self._pieces[index].read(self._values), [])

    def _decode(self, piece: Piece, frame: torch.Tensor) -> int:
        """Decodes a frame over the values that it refers to; returns 1 if this rank has others."""
        with torch.inference_mode():
            values = piece.read(self._room)
            at, number = values.data_ptr(), _frames.number_of(values)
            try:
                _core.decode(frame.data_ptr(), frame.numel(), at, values.numel(), number, [at])
            except FrameError:
                return 1
            piece.write(self._room, values)
        return 0


def _encoded(values: torch.Tensor, references: list[int]) -> bytes:
    return _core.encode(values.data_ptr(), [values.numel()], _frames.number_of(values), CODING, references)


class _Sender:
    """Encodes pieces ahead of their sending. A part is the number of its frames, their sizes, and the frames."""

    def __init__(self, indices: Sequence[int], encode: Encode, pool: ThreadPoolExecutor) -> None:
        self._rest = deque(indices)
        self._encode = encode
        self._pool = pool
        self._ahead: deque[Future] = deque()
        self.failure: Optional[Exception] = None

    def next_part(self) -> torch.Tensor:
        frames: list[bytes] = []
        size, count = 0, 0
        try:
            while size < SHIPMENT_BYTES and self._fill():
                frames.append(self._ahead.popleft().result())
                size += len(frames[-1])
            count = len(frames)
        except Exception as error:
            self.failure, frames, count = error, [], FAILED
        header = torch.tensor([count, *map(len, frames)]).numpy().tobytes()
        return torch.frombuffer(bytearray(b"".join([header, *frames])), dtype=torch.uint8)

    def _fill(self) -> bool:
        """Returns false if all pieces are sent."""
        while self._rest and len(self._ahead) < MOST_AHEAD:
            self._ahead.append(self._pool.submit(self._encode, self._rest.popleft()))
        return len(self._ahead) > 0


def _frames_of(part: torch.Tensor, owner: int, sender: _Sender) -> Sequence[torch.Tensor]:
    """Returns the frames of an owner's part, in host memory; raises on all ranks if the owner failed."""
    part = part.to(HOST)
    words = torch.empty(1, dtype=torch.int64)
    words.view(torch.uint8).copy_(part[:8])
    count = int(words)
    if count == FAILED:
        raise sender.failure or PeerError(f"rank {owner} of the group could not encode; its own error says why")
    sizes = torch.empty(count, dtype=torch.int64)
    sizes.view(torch.uint8).copy_(part[8 : 8 * (count + 1)])
    return part[8 * (count + 1) :].split(sizes.tolist())
