"""Ways to bring the 16-bit weights of rank 0 to all other ranks, in place. Each is called on all ranks.

`new` is a row of bfloat16 words: the new weights on rank 0, the old ones elsewhere. `old`: the old weights, on rank 0.
"""

import ctypes
import ctypes.util
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist

import taut.torch

PIECE = 4 << 20  # bytes; the same as Taut's
AHEAD = 32


def plain(new, old, threads):
    dist.broadcast(new, 0)


def by_taut(new, old, threads):
    taut.torch.sync_weights([new], threads=threads)


def positions_and_values(new, old, threads):
    """Sends the places of changed words, and the words."""
    words = new.view(torch.int16)
    if dist.get_rank() == 0:
        places = (words != old.view(torch.int16)).nonzero().flatten().int()
        values = words[places.long()]
    count = torch.tensor([places.numel() if dist.get_rank() == 0 else 0])
    dist.broadcast(count, 0)
    if dist.get_rank() > 0:
        places, values = torch.empty(int(count), dtype=torch.int32), torch.empty(int(count), dtype=torch.int16)
    dist.broadcast(places, 0)
    dist.broadcast(values.view(torch.uint8), 0)  # gloo has no 16-bit integers
    if dist.get_rank() > 0:
        words[places.long()] = values


class Zstandard:
    """zstd, level 1, by the library of the system."""

    def __init__(self):
        library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
        place, size = ctypes.c_void_p, ctypes.c_size_t
        self._bound = ctypes.CFUNCTYPE(size, size)(("ZSTD_compressBound", library))
        self._compress = ctypes.CFUNCTYPE(size, place, size, place, size, ctypes.c_int)(("ZSTD_compress", library))
        self._decompress = ctypes.CFUNCTYPE(size, place, size, place, size)(("ZSTD_decompress", library))

    def compress(self, data):
        room = torch.empty(self._bound(data.nbytes), dtype=torch.uint8)
        return room[: self._compress(room.data_ptr(), room.nbytes, data.data_ptr(), data.nbytes, 1)]

    def decompress(self, data, room):
        if self._decompress(room.data_ptr(), room.nbytes, data.data_ptr(), data.nbytes) != room.nbytes:
            raise RuntimeError("zstd could not decompress")


def xor_and_zstd(new, old, threads):
    """Sends the words' exclusive-or with the old ones, compressed in pieces: coding and sending overlap as Taut's do."""
    zstd, words = Zstandard(), new.view(torch.int16)
    pieces = words.split(PIECE // 2)

    def encode(piece, before):
        return zstd.compress(piece ^ before)

    def decode(piece, data):
        room = torch.empty_like(piece)
        zstd.decompress(data, room)
        piece ^= room

    with ThreadPoolExecutor(threads) as pool:
        sender = dist.get_rank() == 0
        ahead, waiting = deque(), deque(zip(pieces, old.view(torch.int16).split(PIECE // 2))) if sender else deque()
        done = []
        for piece in pieces:
            while waiting and len(ahead) < AHEAD:
                ahead.append(pool.submit(encode, *waiting.popleft()))
            data = ahead.popleft().result() if sender else None
            size = torch.tensor([data.nbytes if sender else 0])
            dist.broadcast(size, 0)
            data = data if sender else torch.empty(int(size), dtype=torch.uint8)
            dist.broadcast(data, 0)
            if not sender:
                done.append(pool.submit(decode, piece, data))
        for one in done:
            one.result()


WAYS = {"plain": plain, "positions+values": positions_and_values, "xor+zstd": xor_and_zstd, "taut": by_taut}
