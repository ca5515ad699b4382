#!/usr/bin/env python3
"""Shows how much of the coding of segments overlaps their transfer, from a trace of one rank (TAUT_TRACE,
docs/observe.md).

  overlap.py TRACE [--mbit RATE] [--picture FILE]

Takes the largest compressed call of the last half of the trace. Prints its time, the time of its coding (no
two segments code at the same time) and, given the rate of the link in Mbit/s, the least time of its messages
on that link. The call cannot take less than the larger of these two times. The picture has a row for each
segment: its phases, and its messages in transfer.
"""

import argparse
import json
from collections import defaultdict

CODING = ("encode", "combine", "decode")
COLOURS = {"agree": "tab:gray", "encode": "tab:blue", "combine": "tab:green", "decode": "tab:orange", "wait": "lightgray"}


def calls_of(trace):
    """Returns {number: events} of the compressed calls."""
    calls = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            calls[event["args"]["call"]].append(event)
    return {n: events for n, events in calls.items() if any(e["name"] in CODING for e in events)}


def whole(events):
    """Returns the event of the whole call, whose name equals its category."""
    return next(e for e in events if e["name"] == e["cat"])


def choose(calls):
    latest = sorted(calls)[len(calls) // 2 :]
    return max((calls[n] for n in latest), key=lambda events: whole(events)["args"]["bytes"])


def figures(events, mbit):
    """Returns the milliseconds of the call and of coding, the bytes received according to the wait events
    (about as many are sent), and the milliseconds that the link needs for them."""
    call = whole(events)["dur"] / 1000
    coding = sum(e["dur"] for e in events if e["name"] in CODING) / 1000
    received = sum(e["args"]["bytes"] for e in events if e["name"] == "wait" and "bytes" in e["args"])
    return call, coding, received, 8e-3 * received / mbit if mbit else None


def draw(path, events, title):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    begin = whole(events)["ts"]
    rows = sorted({e["tid"] for e in events})
    figure, axes = plt.subplots(figsize=(9, 0.8 + 0.32 * len(rows)), layout="constrained")
    for name in ("wait", *COLOURS):  # draw a segment's coding over its waiting
        for e in events:
            if e["name"] == name:
                height = 0.35 if name == "wait" else 0.8
                axes.barh(e["tid"], e["dur"] / 1000, left=(e["ts"] - begin) / 1000, height=height, color=COLOURS[name])
    axes.set(xlabel="ms", ylabel="segment", yticks=rows, title=title)
    axes.title.set_fontsize(10)
    axes.invert_yaxis()
    used = [name for name in COLOURS if any(e["name"] == name for e in events)]
    axes.legend(handles=[Patch(color=COLOURS[n], label="a message on its way" if n == "wait" else n) for n in used], fontsize=8)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--mbit", type=float)
    parser.add_argument("--picture")
    options = parser.parse_args()
    with open(options.trace, encoding="utf-8") as file:
        calls = calls_of(json.load(file))
    if not calls:
        parser.error(f"{options.trace}: no compressed call")
    events = choose(calls)
    call, coding, received, link = figures(events, options.mbit)
    name = f"{whole(events)['name']}, {whole(events)['args']['bytes'] / 2**20:.0f} MiB"
    lines = [f"{name}: {call:.1f} ms, of which coding {coding:.1f} ms"]
    if link:
        lines += [f"{received / 1e6:.2f} MB take {link:.1f} ms on the link: {call / max(coding, link):.2f} times the larger of both"]
    print("; ".join(lines))
    if options.picture:
        draw(options.picture, events, "\n".join(lines))


if __name__ == "__main__":
    main()
