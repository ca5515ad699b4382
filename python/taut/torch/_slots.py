"""Slots: messages of sizes that both sides know before the frames are made, so that no sizes travel before them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

import torch

_HEAD = 64  # bytes at the start of a slot: the size of the frame, and 1 if some frame of the sender does not fit


def ratio_of(policy: str) -> float:
    """Returns the ratio of values to slots under a policy; 0 if its sizes are exact."""
    for option in policy.split(",")[1:]:
        name, _, value = option.partition("=")
        if name.strip() == "slots" and value.strip() != "off":
            return float(value)
    return 0.0


def _slot(value_bytes: int, note_bytes: int, ratio: float) -> int:
    """Returns the size of a slot: room for a note, and for a frame with its header and a little more than the ratio says."""
    frame = 256 + int(value_bytes / ratio) if value_bytes > 0 else 0
    return _HEAD + note_bytes + frame + -(note_bytes + frame) % 64


@dataclass(frozen=True)
class Slots:
    """Sizes of the slots to each rank, and of those from each rank."""

    sends: list[int]
    receives: list[int]

    @staticmethod
    def of(ratio: float, sent: Sequence[int], received: Sequence[int], note_bytes: int = 0) -> Optional["Slots"]:
        """Returns the slots of values with these numbers of bytes, each behind a note; None if sizes are exact."""
        if ratio == 0:
            return None
        return Slots([_slot(n, note_bytes, ratio) for n in sent], [_slot(n, note_bytes, ratio) for n in received])

    def filled(self, parts: Sequence[torch.Tensor], device: torch.device) -> torch.Tensor:
        """Returns the slots with as much of each part as fits."""
        data = torch.empty(sum(self.sends), dtype=torch.uint8, device=device)
        overflows = any(part.numel() > slot - _HEAD for part, slot in zip(parts, self.sends))
        sizes = [[part.numel(), int(overflows)] for part in parts]
        heads = torch.tensor(sizes, dtype=torch.int64).view(torch.uint8).view(len(parts), -1).to(device)
        for part, head, slot in zip(parts, heads, data.split(self.sends)):
            fitting = part[: slot.numel() - _HEAD]
            slot[: head.numel()] = head
            slot[_HEAD : _HEAD + fitting.numel()] = fitting
        return data

    def rests(self, parts: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Returns copies of what does not fit of each part."""
        return [part[slot - _HEAD :].clone() for part, slot in zip(parts, self.sends)]

    def opened(self, room: torch.Tensor) -> tuple[list[torch.Tensor], list[int], bool]:
        """Returns the parts in received slots, as far as they are there, the bytes that each lacks, and True if some part of some
        rank did not fit: the same on all ranks, as each hears from all."""
        slots = room.split(self.receives)
        heads = torch.stack([slot[:16] for slot in slots]).view(torch.int64).tolist()
        there = [slot[_HEAD : _HEAD + size] for slot, (size, _) in zip(slots, heads)]
        lacks = [size - part.numel() for part, (size, _) in zip(there, heads)]
        return there, lacks, any(overflows for _, overflows in heads)
