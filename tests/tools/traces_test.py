import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python/taut/report"))  # the package itself needs its extension
from _traces import main, merged


def trace(rank, origin, *starts, lost=0):
    events = [{"ph": "M", "name": "process_name", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}"}}]
    events += [{"ph": "X", "name": "encode", "pid": rank, "tid": 0, "ts": ts, "dur": 1.5} for ts in starts]
    return {"otherData": {"rank": rank, "origin_unix_ns": origin, "lost_events": lost}, "traceEvents": events}


class MergeTraces(unittest.TestCase):
    def test_times_count_from_the_earliest_origin(self):
        now = 1_795_271_053_697_272_892  # more than a double holds
        one = merged([trace(1, now + 2500, 0.0, 10.5), trace(0, now, 1.0, lost=3)])
        starts = {(e["pid"], e["ts"]) for e in one["traceEvents"] if e["ph"] == "X"}
        self.assertEqual(starts, {(1, 2.5), (1, 13.0), (0, 1.0)})
        self.assertEqual(one["otherData"], {"ranks": [0, 1], "origin_unix_ns": now, "lost_events": 3})
        self.assertEqual(sum(e["ph"] == "M" for e in one["traceEvents"]), 2)

    def test_two_traces_of_one_rank_are_refused(self):
        with self.assertRaisesRegex(ValueError, "two traces of one rank"):
            merged([trace(1, 0), trace(1, 0)])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [f"{folder}/t.{rank}" for rank in range(2)]
            for rank, name in enumerate(names):
                Path(name).write_text(json.dumps(trace(rank, rank * 1000, 0.0)))
            for given in (names, [f"{folder}/t"]):  # one name stands for the files of all ranks
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    main([*given, "-o", f"{folder}/all"])
                self.assertIn("4 events of 2 ranks", printed.getvalue())
            self.assertEqual(len(json.loads(Path(folder, "all").read_text())["traceEvents"]), 4)
            Path(names[1]).write_text("{}")
            with contextlib.redirect_stderr(io.StringIO()) as told:
                self.assertEqual(main([*names, "-o", f"{folder}/all"]), 1)
            self.assertIn("t.1: not a trace", told.getvalue())


if __name__ == "__main__":
    unittest.main()
