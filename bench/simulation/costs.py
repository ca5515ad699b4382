"""Costs of a codec on a field, as words of a scenario of taut_simulate, from measured rows.

codec_fields.json has the codecs of Taut on all fields; codec_baselines.json, if it exists, has zfp on some. Sizes are those of real
frames of the whole field. Speeds are those of whole fields, which do not fit a cache, by one thread. Threads beyond the
measured two follow the power law of the gain from one thread to two: threads ** p, with the median p of all fields for
each operation.
"""

import math
import statistics
from copy import copy as shallow_copy
from pathlib import Path

from report import RECORD, RESULTS, only_run, rows

ROWS, BASELINES = RESULTS / "codec_fields.json", RESULTS / "codec_baselines.json"
RATE = "zfp_rate"  # zfp at a fixed rate; its rows have no bound
VALUE_BITS = 32  # scenarios have floats
SPEEDS = {
    "encode": "encode_gb_per_s",
    "decode": "decode_gb_per_s",
    "decode_add": "decode_add_gb_per_s",
    "add": "frame_add_gb_per_s",
    "accumulate": "accumulate_gb_per_s",
}


class Costs:
    def __init__(self, path=ROWS, baselines=BASELINES):
        run = only_run(path)
        self.context = {key: run[key] for key in (*RECORD, "compiler")}
        self.rows = {}
        for row in run["rows"] + (rows(baselines) if Path(baselines).exists() else []):
            if row["part"] != "whole" or row["dims"]:
                continue
            if row["bound_kind"] == "absolute":
                self.rows[row["field"], row["of_range"], row["codec"], row["threads"]] = row
            elif row["bound_kind"] == "rate":
                self.rows[row["field"], None, RATE, row["threads"]] = row
        self.exponents = {name: self.exponent(column) for name, column in SPEEDS.items()}

    def exponent(self, column):
        """Returns p of the power law of an operation's speed by threads, from 0 to 1."""
        gains = []
        for (field, bound, codec, threads), row in self.rows.items():
            two = self.rows.get((field, bound, codec, 2))
            if threads == 1 and codec == "planes" and two and row.get(column) and two.get(column):
                gains.append(math.log2(two[column] / row[column]))
        return min(1.0, max(0.0, statistics.median(gains)))

    def with_ideal_threads(self):
        """Returns these costs, with speeds that grow in proportion to the threads."""
        ideal = shallow_copy(self)
        ideal.exponents = dict.fromkeys(SPEEDS, 1.0)
        return ideal

    def sum_speed(self, field, of_range):
        """Returns the GB/s at which plain MPI adds values: it reads and writes memory as often as memcpy does."""
        return self.rows[field, of_range, "planes", 1]["memcpy_gb_per_s"]

    def fields(self):
        return sorted({field for field, *_ in self.rows})

    def floats(self):
        """Returns the fields whose values are of the scenarios' type."""
        return sorted({field for (field, *_), row in self.rows.items() if row["type"] == "f32"})

    def ratio(self, field, of_range, codec="planes"):
        return self.rows[field, of_range, codec, 1]["ratio"]

    def row(self, field, of_range, codec, threads=1):
        """Returns the row of a codec on a field; None if it was not measured."""
        return self.rows.get((field, None if codec == RATE else of_range, codec, threads))

    def growth(self, field, of_range):
        """Returns how many bits a sum of two fields takes beyond those of one, for each value."""
        row = self.rows[field, of_range, "planes", 1]
        return max(0.0, VALUE_BITS / row["frame_add_ratio"] - VALUE_BITS / row["ratio"])

    def words_of_both(self, field, of_range, threads=1):
        """Returns the words of planes, and those of the fast codec, between which the engine chooses."""
        fast = self.words(field, of_range, "szx", threads)
        return self.words(field, of_range, "planes", threads) + [f"fast_{word}" for word in fast if not word.startswith("adds=")]

    def typical_words(self, ratio, threads):
        """Returns the words of planes at a ratio, with the median speeds of the fields at 1e-3 of their ranges."""
        rows = [self.rows[field, 1e-3, "planes", 1] for field in self.floats()]
        median = {name: statistics.median(row[column] for row in rows) for name, column in SPEEDS.items()}
        copy = statistics.median(row["memcpy_gb_per_s"] for row in rows) * threads ** self.exponents["decode"]
        growth = statistics.median(self.growth(field, 1e-3) for field in self.floats())
        words = [f"{name}={speed * threads ** self.exponents[name]:.6g}" for name, speed in median.items()]
        return [f"bits={VALUE_BITS / ratio:.6g}", f"bits_a_doubling={growth:.6g}", *words, f"copy={copy:.6g}", "adds=1"]

    def words(self, field, of_range, codec="planes", threads=1):
        row = self.row(field, of_range, codec)
        growth = 0 if codec == RATE else self.growth(field, of_range)
        words = [f"bits={VALUE_BITS / row['ratio']:.6g}", f"bits_a_doubling={growth:.6g}"]
        for name, column in SPEEDS.items():
            if row.get(column):
                words.append(f"{name}={row[column] * threads ** self.exponents[name]:.6g}")
        copy = row["memcpy_gb_per_s"] * threads ** self.exponents["decode"]
        return [*words, f"copy={copy:.6g}", f"adds={int(codec == 'planes')}"]
