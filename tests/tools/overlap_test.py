"""Tests bench/collective/overlap.py on a trace made by hand."""

import importlib.util
import unittest
from pathlib import Path

spec = importlib.util.spec_from_file_location("overlap", Path(__file__).parents[2] / "bench/collective/overlap.py")
overlap = importlib.util.module_from_spec(spec)
spec.loader.exec_module(overlap)


def event(name, begin, length, call, thread=0, size=0):
    return {"ph": "X", "name": name, "cat": "bcast f32", "tid": thread, "ts": begin, "dur": length, "args": {"call": call, "bytes": size}}


class OverlapTest(unittest.TestCase):
    def trace(self):
        small = [event("encode", 0, 100, 1), event("bcast f32", 0, 500, 1, size=1000)]
        plain = [event("plain", 600, 300, 2), event("bcast f32", 600, 300, 2, size=10**9)]
        large = [
            event("encode", 1000, 1000, 3),
            event("wait", 2000, 9000, 3, size=10**6),
            event("wait", 3000, 9000, 3, thread=1, size=10**6),
            event("decode", 12000, 2000, 3, thread=1),
            event("bcast f32", 1000, 16000, 3, size=10**8),
        ]
        return {"traceEvents": [{"ph": "M", "name": "process_name"}, *small, *plain, *large]}

    def test_plain_calls_are_left_out(self):
        self.assertEqual(sorted(overlap.calls_of(self.trace())), [1, 3])

    def test_the_figures_of_the_largest_of_the_latest(self):
        events = overlap.choose(overlap.calls_of(self.trace()))
        call, coding, received, link = overlap.figures(events, mbit=1000)
        self.assertEqual((call, coding, received), (16.0, 3.0, 2 * 10**6))
        self.assertAlmostEqual(link, 16.0)  # 16 Mbit


if __name__ == "__main__":
    unittest.main()
