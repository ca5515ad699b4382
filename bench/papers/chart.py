"""Line charts as SVG text, both axes logarithmic."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 360, 60, 50, 220, 50
COLOURS = ("#1f6fb2", "#c8553d", "#3a8f5c", "#8a5fb0", "#b58900", "#5b6770")


def ticks(least, most):
    """Returns 1, 2 and 5 times powers of ten from least to most."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    return [m * 10.0**e for e in powers for m in (1, 2, 5) if least * 0.999 <= m * 10.0**e <= most * 1.001]


def scale(least, most, begin, end):
    """Returns the function that maps [least, most] to [begin, end] by logarithms."""
    width = math.log(most / least) or 1.0
    return lambda value: begin + (end - begin) * math.log(value / least) / width


def chart(title, axis, series):
    """Returns the SVG text of series: {label: [(x, y)]}. A dashed line marks y = 1."""
    points = [point for line in series.values() for point in line]
    xs, ys = sorted({x for x, _ in points}), [y for _, y in points] + [1.0]
    x_of = scale(xs[0], xs[-1], LEFT, WIDTH - RIGHT)
    least, most = min(ys) * 0.9, max(ys) * 1.1
    y_of = scale(least, most, HEIGHT - BOTTOM, TOP)
    made = [f'<text x="{LEFT}" y="28" font-size="16">{escape(title)}</text>']
    for y in ticks(least, most):
        made.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_of(y):.1f}" y2="{y_of(y):.1f}" stroke="#ddd"/>')
        made.append(f'<text x="{LEFT - 8}" y="{y_of(y) + 5:.1f}" text-anchor="end">{y:g}</text>')
    made.append(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_of(1):.1f}" y2="{y_of(1):.1f}" stroke="#555" stroke-dasharray="5 4"/>'
    )
    for x in xs:
        made.append(f'<text x="{x_of(x):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{x:g}</text>')
    made.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(axis)}</text>')
    for number, (label, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in sorted(line))
        made.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        made.append(f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 12 + 20 * number}" fill="{colour}">{escape(label)}</text>')
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
        f"  <title>{escape(title)}</title>",
        f'  <rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *(f"  {element}" for element in made),
        "</svg>\n",
    ])  # fmt: skip
