"""Pictures in a page: line charts as SVG, whose colours follow the page, and fields as PNG."""

import base64
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    import numpy as np

WIDTH, HEIGHT = 440, 260
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 12, 44
COLOURS = 6
FIELD_COLOURS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
ERROR_COLOURS = ((5, 48, 97), (67, 147, 195), (247, 247, 247), (214, 96, 77), (103, 0, 31))

STYLE = """
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 1.6rem }
.charts svg { width: 100%; max-width: 560px } .charts p { margin: .2rem 0; color: var(--faint); font-size: 13px }
.frame { stroke: var(--faint); fill: none } .grid { stroke: var(--line) } .mark { stroke: var(--faint); stroke-dasharray: 4 3 }
svg text { fill: var(--text); font: 13px system-ui, sans-serif } .series { fill: none; stroke-width: 1.8 }
.key { display: inline-block; margin-right: .9rem; font-size: 13px } .key i { display: inline-block; width: 1.2em; height: 3px;
  margin-right: .35em; vertical-align: middle }
.bars { display: grid; grid-template-columns: minmax(6rem, 13rem) 1fr 7rem; gap: .6rem; align-items: center; font-size: 13px;
  margin: .25rem 0 } .bars > div { display: flex; height: 1.1rem } .bars i { height: 100% }
@media (max-width: 600px) { .bars { grid-template-columns: 6rem 1fr 5rem } }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 230px), 1fr)); gap: 1rem }
.pictures figure { margin: 0 } .pictures img { width: 100%; image-rendering: pixelated } figcaption { font-size: 13px }
pre { background: var(--plate); padding: .7rem 1rem; overflow-x: auto; overflow-wrap: normal } ul.warn { padding-left: 1.2rem }
""" + "".join(f".s{k} {{ stroke: var(--c{k}) }} .k{k} {{ background: var(--c{k}) }} .d{k} {{ fill: var(--c{k}) }}\n" for k in range(COLOURS))


@dataclass(frozen=True)
class Series:
    """A line of a chart."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    dots: bool = False
    joined: bool = True


class _Axis:
    """A linear or logarithmic scale from values to positions."""

    def __init__(self, values: Sequence[float], log: bool, first: float, last: float) -> None:
        self.log = log
        kept = [self._scaled(one) for one in values if isfinite(one) and (one > 0 or not log)] or [0.0, 1.0]
        self.low, self.high = min(kept), max(kept)
        if self.low == self.high:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.first, self.last = first, last

    def _scaled(self, value: float) -> float:
        return log10(value) if self.log else value

    def at(self, value: float) -> Optional[float]:
        if not isfinite(value) or (self.log and value <= 0):
            return None
        return self.first + (self._scaled(value) - self.low) / (self.high - self.low) * (self.last - self.first)

    def ticks(self) -> list[float]:
        if self.log and self.high - self.low >= 1:
            step = max(1, ceil((self.high - self.low) / 5))
            return [10.0**power for power in range(ceil(self.low), floor(self.high) + 1, step)]
        size = self.high - self.low
        low, high = (10**self.low, 10**self.high) if self.log else (self.low, self.high)
        size = high - low
        base = 10 ** floor(log10(size / 4))
        step_size = next(base * k for k in (1, 2, 5, 10) if size / (base * k) <= 5)
        return [k * step_size for k in range(ceil(low / step_size), floor(high / step_size) + 1)]


def chart(series: Sequence[Series], x_label: str, y_label: str, log_x: bool = False, log_y: bool = False,
          mark: Optional[float] = None) -> str:  # fmt: skip
    """Returns a line chart with its key below. `mark` is an x at which a dashed line stands."""
    x = _Axis([one for line in series for one in line.xs], log_x, LEFT, WIDTH - RIGHT)
    y = _Axis([one for line in series for one in line.ys], log_y, HEIGHT - BOTTOM, TOP)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(y_label)} by {escape(x_label)}">']
    for tick in y.ticks():
        at = y.at(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
                     f'<text x="{LEFT - 6}" y="{(at or 0) + 4:.1f}" text-anchor="end">{tick:.4g}</text>')  # fmt: skip
    for tick in x.ticks():
        at = x.at(tick)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
                     f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{tick:.4g}</text>')  # fmt: skip
    parts.append(f'<path class="frame" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>')
    if mark is not None and x.at(mark) is not None:
        parts.append(f'<line class="mark" x1="{x.at(mark):.1f}" x2="{x.at(mark):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    for number, line in enumerate(series):
        parts.append(_line(line, number % COLOURS, x, y))
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text></svg>')
    keys = "".join(f'<span class="key"><i class="k{k % COLOURS}"></i>{escape(line.name)}</span>' for k, line in enumerate(series))
    return "".join(parts) + f"<div>{keys}</div>"


def _line(line: Series, colour: int, x: _Axis, y: _Axis) -> str:
    points = [(x.at(a), y.at(b)) for a, b in zip(line.xs, line.ys)]
    drawn = [f"{a:.1f},{b:.1f}" for a, b in points if a is not None and b is not None]
    text = f'<polyline class="series s{colour}" points="{" ".join(drawn)}"/>' if line.joined else ""
    if line.dots:
        text += "".join(f'<circle class="d{colour}" r="3.5" cx="{one.split(",")[0]}" cy="{one.split(",")[1]}"/>' for one in drawn)
    return text


def _palette(anchors: Sequence[tuple[int, int, int]]) -> bytes:
    import numpy as np

    at = np.linspace(0, 1, 255)
    places = np.linspace(0, 1, len(anchors))
    table = np.stack([np.interp(at, places, [one[k] for one in anchors]) for k in range(3)], axis=1)
    return b"\x80\x80\x80" + np.rint(table).astype(np.uint8).tobytes()


def picture(values: "np.ndarray[Any, Any]", least: float, greatest: float, signed: bool = False) -> str:
    """Returns an image of a field as a data URI; NaN are grey."""
    import numpy as np  # report and trace draw no fields, and run where NumPy is not installed

    size = greatest - least or 1.0
    whole = np.isfinite(values)
    scaled = np.clip((np.where(whole, values, least) - least) / size, 0, 1)
    pixels = np.where(whole, 1 + np.rint(scaled * 254), 0).astype(np.uint8)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((pixels.shape[0], pixels.shape[1] + 1), np.uint8)  # each with filter 0
    rows[:, 1:] = pixels
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 3, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"PLTE", _palette(ERROR_COLOURS if signed else FIELD_COLOURS))
    png += chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(png).decode()


def bars(names: Sequence[str], rows: Sequence[tuple[str, Sequence[float], str]], text: Callable[[float], str]) -> str:
    """Returns stacked bars, one for each row (name, parts, total in words), with the key of the parts' `names` below."""
    greatest = max((sum(parts) for _, parts, _ in rows), default=0.0) or 1.0
    drawn = []
    for name, parts, total in rows:
        pieces = "".join(f'<i class="k{k % COLOURS}" style="width:{100 * part / greatest:.2f}%" title="{escape(f"{names[k]}: {text(part)}")}"></i>'
                         for k, part in enumerate(parts) if part > 0)  # fmt: skip
        drawn.append(f'<div class="bars"><span>{escape(name)}</span><div>{pieces}</div><span>{escape(total)}</span></div>')
    keys = "".join(f'<span class="key"><i class="k{k % COLOURS}"></i>{escape(name)}</span>' for k, name in enumerate(names))
    return "".join(drawn) + f"<div>{keys}</div>"
