"""Charts as SVG text: lines and dots with their names beside them, and bars. Colours follow the light or dark theme of the page."""

import math
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, PLOT = 640, 74, 150, 240  # of a picture; left and right of a plot; height of a plot
ABOVE, BELOW, LINE, LETTER = 34, 52, 17, 7.4  # heights above and below a plot; of a line of text; usual width of a letter
LIGHT = ("#0072b2", "#b94a00", "#007a59", "#a03d78", "#7a5f00", "#555555")
DARK = ("#56b4e9", "#ff9252", "#35c79a", "#e79ac4", "#e6c84b", "#b0b0b0")


def _colours(palette, text, faint, grid):
    rules = [f"text {{ fill: {text} }}", f".faint {{ fill: {faint} }}", f".grid {{ stroke: {grid} }}", f".rule, .frame {{ stroke: {faint} }}"]
    rules += [f".s{k} {{ stroke: {one} }} .f{k} {{ fill: {one} }}" for k, one in enumerate(palette)]
    return " ".join(rules)


STYLE = "\n".join([
    "text { font: 14px system-ui, sans-serif } .title { font-size: 15px; font-weight: 600 } .series { fill: none; stroke-width: 2 }",
    ".frame { fill: none } .rule { stroke-dasharray: 5 4 } .hollow { fill: none; stroke-width: 2 }",
    _colours(LIGHT, "#222", "#5b5b5b", "#ddd"),
    f"@media (prefers-color-scheme: dark) {{ {_colours(DARK, '#e4e4e4', '#a8a8a8', '#3a3b3d')} }}",
])  # fmt: skip


@dataclass(frozen=True)
class Series:
    """Points of one colour, joined by a line unless said otherwise."""

    name: str  # stands at the end of the line, unless each point has words of its own
    points: list
    colour: int = 0
    words: tuple = ()  # one for each point; nothing is written for an empty one
    joined: bool = True
    hollow: bool = False
    dotted: bool = True  # a dot at each point
    band: tuple = ()  # half of the height of a band around the line, at each point


@dataclass(frozen=True)
class Panel:
    """A plot with its axes."""

    title: str
    x_label: str
    y_label: str
    series: list
    log: tuple = (True, True)
    level: tuple = ()  # (y, words) of a dashed line
    uprights: list = field(default_factory=list)  # (x, words, colour) of dashed lines
    x_ticks: tuple = ()


def svg(title, height, elements):
    """Returns a picture of these elements."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}">',
        f"  <title>{escape(title)}</title>",
        f"  <style>\n{STYLE}\n</style>",
        *(f"  {element}" for element in elements),
        "</svg>\n",
    ])  # fmt: skip


def text(x, y, words, anchor="start", classes="", more=""):
    """Returns a line of text."""
    named = f' class="{classes}"' if classes else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}{more}>{escape(words)}</text>'


def ticks(least, most, log):
    """Returns round numbers from least to most: up to about six."""
    if log:
        powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
        every = max(1, math.ceil(len(powers) / 7))
        steps = (1, 2, 5) if most / least < 1000 else (1,)
        made = [m * 10.0**e for e in powers if e % every == 0 for m in steps]
    else:
        base = 10 ** math.floor(math.log10((most - least) / 4))
        step = next(base * k for k in (1, 2, 5, 10) if (most - least) / (base * k) <= 6)
        made = [k * step for k in range(math.floor(least / step), math.ceil(most / step) + 1)]
    slack = 1e-9 * (most - least)
    return [one for one in made if least - slack <= one <= most + slack]


def number(value):
    """Returns the short text of a tick."""
    return f"{value:.0e}".replace("e-0", "e-") if 0 < abs(value) < 1e-2 else f"{value:g}"


def scale(least, most, begin, end, log):
    """Returns the function that maps [least, most] to [begin, end]."""
    of = math.log if log else float
    width = of(most) - of(least) or 1.0
    return lambda value: begin + (end - begin) * (of(value) - of(least)) / width


def _edges(values, log, margin):
    least, most = min(values), max(values)
    if log:
        factor = (most / least) ** margin if most > least else 1.5
        return least / factor, most * factor
    room = margin * (most - least) or 1.0
    return least - room, most + room


def _around(x, y, distance):
    return x - distance, y - distance, x + distance, y + distance


def _overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


class _Plot:
    """A panel at its place in a picture."""

    def __init__(self, panel, top):
        self.panel, self.top, self.bottom = panel, top, top + PLOT
        points = [point for line in panel.series for point in line.points]
        xs, ys = [x for x, _ in points] + [x for x, *_ in panel.uprights], [y for _, y in points] + list(panel.level[:1])
        ys += [y + side * half for line in panel.series for (_, y), half in zip(line.points, line.band) for side in (1, -1)]
        self.named = any(not line.words for line in panel.series)
        self.right = WIDTH - (RIGHT if self.named else 16)
        self.x_edges, self.y_edges = _edges(xs, panel.log[0], 0.05), _edges(ys, panel.log[1], 0.08)
        self.x = scale(*self.x_edges, LEFT, self.right, panel.log[0])
        self.y = scale(*self.y_edges, self.bottom, top, panel.log[1])
        self.taken = [_around(self.x(x), self.y(y), 6) for x, y in points]  # boxes in which words would not be read
        for line in panel.series:
            self.taken += [_around(*at, 2) for at in self._along(line)] if line.joined else []
        self.taken += [(self.x(x) - 1, top, self.x(x) + 1, self.bottom) for x, *_ in panel.uprights]
        if panel.level:
            self.taken.append((LEFT, self.y(panel.level[0]) - 1, self.right, self.y(panel.level[0]) + 1))

    def _along(self, line):
        """Yields places along a line."""
        for (a, b), (c, d) in zip(line.points, line.points[1:]):
            for k in range(33):
                yield self.x(a) + (self.x(c) - self.x(a)) * k / 32, self.y(b) + (self.y(d) - self.y(b)) * k / 32

    def axes(self):
        panel, made = self.panel, [text(LEFT, self.top - 14, self.panel.title, classes="title")]
        for y in ticks(*self.y_edges, panel.log[1]):
            made.append(f'<line class="grid" x1="{LEFT}" x2="{self.right}" y1="{self.y(y):.1f}" y2="{self.y(y):.1f}"/>')
            made.append(text(LEFT - 7, self.y(y) + 5, number(y), "end"))
        for x in panel.x_ticks or ticks(*self.x_edges, panel.log[0]):
            made.append(f'<line class="grid" x1="{self.x(x):.1f}" x2="{self.x(x):.1f}" y1="{self.top}" y2="{self.bottom}"/>')
            made.append(text(self.x(x), self.bottom + LINE, number(x), "middle"))
        made.append(f'<path class="frame" d="M{LEFT} {self.top}V{self.bottom}H{self.right}"/>')
        made.append(text((LEFT + self.right) / 2, self.bottom + 2.2 * LINE, panel.x_label, "middle"))
        middle = (self.top + self.bottom) / 2
        return [*made, text(16, middle, panel.y_label, "middle", more=f' transform="rotate(-90 16 {middle:.1f})"')]

    def rules(self):
        made = []
        if self.panel.level:
            at, words = self.y(self.panel.level[0]), self.panel.level[1]
            spots = [(LEFT + share * (self.right - LEFT), at + shift, anchor)
                     for share, anchor in ((0.02, "start"), (0.5, "middle"), (0.98, "end")) for shift in (-6, 16)]  # fmt: skip
            made.append(f'<line class="rule" x1="{LEFT}" x2="{self.right}" y1="{at:.1f}" y2="{at:.1f}"/>')
            made.append(self._free(spots, words, "faint"))
        for x, words, colour in self.panel.uprights:
            made.append(f'<line class="rule s{colour}" x1="{self.x(x):.1f}" x2="{self.x(x):.1f}" y1="{self.top}" y2="{self.bottom}"/>')
            made.append(self._beside(self.x(x), self.top + LINE, words, f"f{colour}"))
        return made

    def _beside(self, x, y, words, classes):
        """Returns words at the first free place around a point."""
        around = [(9, 5, "start"), (-9, 5, "end"), (0, -11, "middle"), (0, 21, "middle"), (7, -9, "start"), (7, 19, "start"), (-7, -9, "end"),
                  (-7, 19, "end"), (9, -24, "start"), (9, 34, "start"), (-9, -24, "end"), (-9, 34, "end")]  # fmt: skip
        return self._free([(x + right, y + down, anchor) for right, down, anchor in around], words, classes)

    def _free(self, places, words, classes):
        """Returns words at the first place (x, base line, anchor) where nothing else is."""
        width = LETTER * len(words)

        def box(place):
            x, base, anchor = place
            left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
            return left, base - 12, left + width, base + 4

        def inside(place):
            left, top, right, bottom = box(place)
            return left >= LEFT and right <= WIDTH and top >= self.top - 8 and bottom <= self.bottom

        fitting = list(filter(inside, places)) or places
        chosen = next((place for place in fitting if not any(_overlap(box(place), one) for one in self.taken)), fitting[0])
        self.taken.append(box(chosen))
        return text(*chosen[:2], words, chosen[2], classes)

    def _band(self, line):
        edges = [(x, y + half) for (x, y), half in zip(line.points, line.band)]
        edges += [(x, y - half) for (x, y), half in reversed([*zip(line.points, line.band)])]
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in edges)
        return [f'<polygon class="f{line.colour}" fill-opacity="0.15" points="{path}"/>'] if line.band else []

    def _dots(self, line):
        kind = f"hollow s{line.colour}" if line.hollow else f"f{line.colour}"
        radius = 6 if line.hollow else 4
        return [f'<circle class="{kind}" r="{radius}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}"/>' for x, y in line.points]

    def lines(self):
        made = []
        for line in self.panel.series:
            path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in line.points)
            made += self._band(line)
            made += [f'<polyline class="series s{line.colour}" points="{path}"/>'] if line.joined else []
            made += self._dots(line) if line.dotted else []
        for line in self.panel.series:
            made += [self._beside(self.x(x), self.y(y), words, f"f{line.colour}") for (x, y), words in zip(line.points, line.words) if words]
        return made + self._names()

    def _names(self):
        """Returns the names at the ends of the lines, moved apart."""
        named = sorted((line for line in self.panel.series if not line.words), key=lambda line: self.y(line.points[-1][1]))
        places = []
        for line in named:
            at = self.y(line.points[-1][1])
            places.append(max(at, places[-1] + LINE) if places else at)
        limit = self.bottom
        for k in reversed(range(len(places))):
            places[k] = min(places[k], limit)
            limit = places[k] - LINE
        return [text(self.right + 10, at + 5, line.name, classes=f"f{line.colour}") for line, at in zip(named, places)]


def chart(title, panels, above=()):
    """Returns the picture of panels, one below the other, below these fields: (words, image as a data URI, height by width)."""
    made, top = [], ABOVE
    for words, image, shape in above:
        width = WIDTH - LEFT - 16
        made.append(text(LEFT, top - 14, words, classes="title"))
        made.append(f'<image x="{LEFT}" y="{top}" width="{width}" height="{width * shape:.1f}" preserveAspectRatio="none" href="{image}"/>')
        top += width * shape + ABOVE
    for panel in panels:
        plot = _Plot(panel, top)
        made += [*plot.axes(), *plot.rules(), *plot.lines()]
        top = plot.bottom + BELOW + ABOVE
    return svg(title, top - ABOVE, made)


def bars(title, groups):
    """Returns the picture of groups of bars: (heading, [(label, value, words at the end, colour)])."""
    left, step, height = 190, 30, 20
    full = WIDTH - left - LETTER * max(len(words) for _, rows in groups for _, _, words, _ in rows) - 16
    made, top = [text(20, 24, title, classes="title")], 56
    for heading, rows in groups:
        made.append(text(20, top, heading, classes="faint"))
        greatest = max(value for _, value, _, _ in rows)
        for place, (label, value, words, colour) in enumerate(rows):
            y, length = top + 12 + place * step, full * value / greatest
            made.append(text(left - 10, y + 15, label, "end"))
            made.append(f'<rect class="f{colour}" x="{left}" y="{y}" width="{length:.1f}" height="{height}"/>')
            made.append(text(left + length + 8, y + 15, words))
        top += 12 + len(rows) * step + 30
    return svg(title, top - 20, made)
