"""Frames of tensors. A frame is a tensor of bytes. Values and frames are in memory of the host or of a GPU, independently."""

from collections.abc import Sequence

import torch

from .. import _core
from .._errors import ArgumentError, DTypeError

# torch's types and their numbers in frames (enum TAUT_Type)
NUMBERS = {
    torch.float32: 1,
    torch.float64: 2,
    torch.float16: 3,
    torch.bfloat16: 4,
    torch.complex64: 5,
    torch.complex128: 6,
    torch.int8: 7,
    torch.uint8: 8,
    torch.int16: 9,
    torch.int32: 11,
    torch.int64: 13,
}
STORED = "lossless,codec=raw"  # coding of values that travel uncompressed


def values_of(tensor: torch.Tensor, name: str) -> torch.Tensor:
    """Returns the values of a tensor as one row; raises if Taut cannot access them. `name`: of the argument."""
    if not isinstance(tensor, torch.Tensor):
        raise DTypeError(f"{name} is no tensor: {type(tensor).__name__}")
    if tensor.device.type not in ("cpu", "cuda"):
        raise ArgumentError(f"{name} is on device {tensor.device}; taut.torch serves tensors on CPUs and CUDA: pass {name}.cpu()")
    if not tensor.is_contiguous():
        raise ArgumentError(f"{name} is not contiguous: pass {name}.contiguous()")
    return tensor.detach().view(-1)


def number_of(values: torch.Tensor) -> int:
    """Returns the number of a tensor's type; raises if there is none."""
    number = NUMBERS.get(values.dtype)
    if number is None:
        raise DTypeError(f"values of type {values.dtype} are not coded; convert them to torch.float32")
    return number


def movable(values: torch.Tensor) -> torch.Tensor:
    """Returns values that frames can hold: the same ones, or the bytes of values of another type, such as float8."""
    return values if values.dtype in NUMBERS else values.view(torch.uint8)


def coding_of(dtype: torch.dtype, policy: str) -> str:
    """Returns the coding of values of a type under a policy: that of KV caches, whose 16-bit floats `exponents` codes faster than mpc."""
    lossless = policy.partition(",")[0] == "lossless"
    if not dtype.is_floating_point:
        return policy if lossless and "codec=" not in policy else "lossless"
    halves = dtype in (torch.float16, torch.bfloat16)
    return f"{policy},codec=exponents" if halves and lossless and "codec=" not in policy else policy


def encode(values: torch.Tensor, coding: str, device: torch.device) -> torch.Tensor:
    """Returns the frame of the values, in memory of `device`; no bytes if there are no values."""
    if values.numel() == 0:
        return torch.empty(0, dtype=torch.uint8, device=device)
    number = number_of(values)
    frame = _room(number, values.numel(), 1, device)
    written = frame[: _core.encode_into(values.data_ptr(), values.numel(), number, coding, _span(frame))]
    return written.clone() if 2 * written.numel() < frame.numel() else written  # the room is as large as the values


def decode(frame: torch.Tensor, values: torch.Tensor) -> None:
    """Decodes a frame into `values`, which has its type and count."""
    if values.numel() > 0:
        _core.decode(*_span(frame), values.data_ptr(), values.numel(), number_of(values))


def add(frames: Sequence[torch.Tensor], values: torch.Tensor) -> torch.Tensor:
    """Returns the frame of the sum of frames, which have the type and count of `values`."""
    total = frames[0]
    if values.numel() > 0:
        for addends, frame in enumerate(frames[1:], start=2):
            room = _room(number_of(values), values.numel(), addends, total.device)
            total = room[: _core.add_into(_span(total), _span(frame), _span(room))].clone()  # the room is longer
    return total


def _room(number: int, count: int, addends: int, device: torch.device) -> torch.Tensor:
    return torch.empty(_core.max_bytes(number, count, addends), dtype=torch.uint8, device=device)


def _span(data: torch.Tensor) -> tuple[int, int]:
    return data.data_ptr(), data.numel()
