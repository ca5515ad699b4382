"""Reader and writer of the format of .taut files, docs/spec/file.md. The reader checks everything before it uses it."""

import struct
from dataclasses import dataclass
from math import prod
from typing import Any, Iterable, NoReturn

import numpy as np

from . import _core
from ._arrays import address_of
from ._dtypes import size_of
from ._errors import ArgumentError, FrameError

MAGIC, END = b"\x89TAUT\r\n\x1a", b"TAUT end"
ALONE, WITH_REFERENCES = 1, 2  # versions
MOST_REFERENCES = 2
NPY, FORTRAN = 2, 3
MOST_VALUES = 1 << 22  # in a frame
FRAME_HEADER, MOST_VALUES_A_WORD = 64, 65536  # bytes; in 4 bytes of a frame's payload
MOST_TYPES = 14
LONGEST_CODING = 4096
HEADER = struct.Struct("<8sIIBBBBI")
FOOTER = struct.Struct("<QQIIII8s")
ENTRY = np.dtype([("bytes", "<u8"), ("values", "<u4"), ("checksum", "<u4")])


@dataclass(frozen=True)
class Description:
    """The header: description of the array."""

    type: int
    form: int
    extents: tuple[int, ...]  # slowest first, as in the file
    coding: str
    references: int = 0  # arrays that the frames may refer to

    @property
    def shape(self) -> tuple[int, ...]:
        return self.extents[::-1] if self.form == FORTRAN else self.extents

    @property
    def count(self) -> int:
        return prod(self.extents)


@dataclass(frozen=True)
class Entry:
    """An entry of the index."""

    offset: int
    bytes: int
    values: int
    checksum: int


@dataclass(frozen=True)
class Contents:
    """Contents of a file. A frame is checked when it is asked for."""

    about: Description
    data: np.ndarray  # all bytes
    entries: list[Entry]

    def frame(self, position: int) -> np.ndarray:
        entry = self.entries[position]
        frame = self.data[entry.offset : entry.offset + entry.bytes]
        if checksum(frame) != entry.checksum:
            damaged(f"checksum of frame {position + 1} of {len(self.entries)}")
        *_, number, count, _ = _core.frame_info(address_of(frame), frame.nbytes)
        if (number, count) != (self.about.type, entry.values):
            damaged(f"type or count in frame {position + 1} of {len(self.entries)}")
        return frame


def checksum(data: Any) -> int:
    """Returns the CRC-32C of the data."""
    array = np.frombuffer(data, np.uint8)
    return _core.crc32c(address_of(array), array.nbytes)


def damaged(what: str) -> NoReturn:
    raise FrameError(f"the data is damaged ({what}); get it again")


def write(about: Description, frames: Iterable[tuple[bytes, int]]) -> bytes:
    """Returns the contents of a file, from the frames and the number of values in each."""
    coding = about.coding.encode()
    if len(coding) > LONGEST_CODING:
        raise ArgumentError(f"the bound is longer than {LONGEST_CODING} characters")
    size = HEADER.size + 8 * len(about.extents) + len(coding) + 4
    version = WITH_REFERENCES if about.references else ALONE
    header = HEADER.pack(MAGIC, version, size, about.type, about.form, len(about.extents), about.references, len(coding))
    header += struct.pack(f"<{len(about.extents)}Q", *about.extents) + coding
    header_checksum = checksum(header)
    parts, entries = [header, struct.pack("<I", header_checksum)], []
    for frame, values in frames:
        parts.append(frame)
        entries.append((len(frame), values, checksum(frame)))
    index = np.array(entries, ENTRY).tobytes()
    footer = FOOTER.pack(sum(map(len, parts)), len(entries), checksum(index), header_checksum, 0, 0, END)[:28]
    return b"".join([*parts, index, footer, struct.pack("<I", checksum(footer)), END])


def read(data: Any) -> Contents:
    """Reads the contents of a file, and checks everything except the frames."""
    try:
        everything = np.frombuffer(data, np.uint8)
    except ValueError:  # no bytes
        everything = np.empty(0, np.uint8)
    about, begin, header_checksum = _read_header(everything)
    return Contents(about, everything, _read_index(everything, begin, header_checksum, about))


def _read_header(data: np.ndarray) -> tuple[Description, int, int]:
    if data.nbytes < HEADER.size or data[:8].tobytes() != MAGIC:
        raise FrameError("this is not what taut.compress wrote, nor the contents of a .taut file")
    _, version, size, number, form, dims, references, coding_bytes = HEADER.unpack(data[: HEADER.size].tobytes())
    if version not in (ALONE, WITH_REFERENCES):
        raise FrameError(f"the data is of version {version} of the format, or damaged; this package reads versions 1 and 2")
    if dims > 32 or coding_bytes > LONGEST_CODING or size != HEADER.size + 8 * dims + coding_bytes + 4:
        damaged("lengths in its header")
    if data.nbytes < size:
        damaged("it ends within its header")
    header = data[:size].tobytes()
    (header_checksum,) = struct.unpack("<I", header[-4:])
    if header_checksum != checksum(header[:-4]):
        damaged("checksum of its header")
    if not 1 <= number <= MOST_TYPES or not 1 <= form <= FORTRAN:
        damaged("type or form in its header")
    if references > MOST_REFERENCES or (version == WITH_REFERENCES) != (references > 0):
        damaged("references in its header")
    extents = struct.unpack_from(f"<{dims}Q", header, HEADER.size)
    if prod(max(extent, 1) for extent in extents) * size_of(number) > 1 << 62:
        damaged("shape in its header")
    coding = header[HEADER.size + 8 * dims : -4].decode(errors="replace")
    return Description(number, form, extents, coding, references), size, header_checksum


def _read_index(data: np.ndarray, begin: int, header_checksum: int, about: Description) -> list[Entry]:
    end = data.nbytes - FOOTER.size  # end of the index
    if end < begin:
        damaged("it ends before its index")
    footer = data[end:].tobytes()
    index_at, frames, index_checksum, same_header, zero, own, magic = FOOTER.unpack(footer)
    if magic != END or own != checksum(footer[:28]):
        damaged("its end is missing")
    if not begin <= index_at <= end or (end - index_at) != frames * ENTRY.itemsize or zero or same_header != header_checksum:
        damaged("its index")
    index = data[index_at:end]
    if checksum(index.tobytes()) != index_checksum:
        damaged("checksum of its index")
    return _checked_entries(index.view(ENTRY), begin, index_at, about)


def _checked_entries(index: np.ndarray, begin: int, end: int, about: Description) -> list[Entry]:
    entries, offset, left = [], begin, about.count
    most: dict[int, int] = {}
    for size, values, sum_of_frame in index.tolist():
        if not 0 < values <= min(MOST_VALUES, left) or size > end - offset:
            damaged("sizes in its index")
        least = FRAME_HEADER + -(-values // MOST_VALUES_A_WORD) * 4 - 3  # a payload may end within a word
        if not least <= size <= most.setdefault(values, _core.max_bytes(about.type, values)):
            damaged("sizes in its index")
        entries.append(Entry(offset, size, values, sum_of_frame))
        offset += size
        left -= values
    if left or offset != end:
        damaged("sizes in its index")
    return entries
