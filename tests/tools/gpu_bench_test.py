"""The scripts around tools/gpu/check.sh kernels, without a GPU: PyTorch and nvCOMP are played."""

import contextlib
import importlib
import io
import json
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

GPU = Path(__file__).resolve().parents[2] / "tools/gpu"
COPY = json.dumps({"bench": "copy", "bytes": 65536, "ratio": 1.0, "GB/s": 900.0})


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        pass

    synchronize = record

    def elapsed_time(self, _):
        return 0.5  # ms


class Tensor:
    def cuda(self):
        return self

    def view(self, _):
        return self

    clone = cuda


class Graph:
    def replay(self):
        pass


def torch(available=True):
    cuda = types.SimpleNamespace(
        Event=Event,
        CUDAGraph=Graph,
        graph=contextlib.nullcontext,
        synchronize=lambda: None,
        is_available=lambda: available,
        current_stream=lambda: types.SimpleNamespace(cuda_stream=7),
    )
    tensor = {name: lambda *_, **__: Tensor() for name in ("frombuffer", "add")}
    return types.SimpleNamespace(cuda=cuda, float32=0, int32=1, **tensor)


class Codec:
    """Halves everything; one algorithm is missing."""

    def __init__(self, algorithm, cuda_stream, **_):
        assert cuda_stream == 7
        if algorithm == "ANS":
            raise RuntimeError("no such algorithm\nand more")

    def encode(self, _):
        return types.SimpleNamespace(size=8192, item_size=4)

    decode = encode


NVCOMP = types.SimpleNamespace(Codec=Codec, as_array=lambda array, cuda_stream: array)


def peers(modules, lines):
    """Returns what peers.py prints if these modules can be imported, as objects."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as out, contextlib.redirect_stdout(io.StringIO()) as printed:
        out.write("\n".join(lines))
        out.flush()
        with mock.patch.dict(sys.modules, modules), mock.patch.object(sys, "path", [str(GPU), *sys.path]):
            module = importlib.import_module("peers")
            with mock.patch.object(module, "SPIN", 0):
                module.main("/bin/echo", out.name)
    return [json.loads(line) for line in printed.getvalue().splitlines()]


def table(rows):
    with mock.patch.object(sys, "path", [str(GPU), *sys.path]):
        return importlib.import_module("table").table(rows)


class Peers(unittest.TestCase):
    def test_without_torch_one_line_says_so(self):
        (row,) = peers({"torch": None}, [COPY])
        self.assertIsNone(row["GB/s"])
        self.assertIn("torch", row["why"])

    def test_without_a_device(self):
        (row,) = peers({"torch": torch(available=False)}, [COPY])
        self.assertIn("no CUDA device", row["why"])

    def test_without_nvcomp_the_sum_is_timed(self):
        why, row = peers({"torch": torch(), "nvidia": None}, [COPY])
        self.assertIn("why", why)
        self.assertEqual((row["bench"], row["median_us"], row["GB/s"]), ("torch.add", 50.0, 1.3))

    def test_an_algorithm_that_fails_leaves_the_others(self):
        nvidia = types.SimpleNamespace(nvcomp=NVCOMP)
        rows = peers({"torch": torch(), "nvidia": nvidia, "nvidia.nvcomp": NVCOMP}, ["nvcc warns", COPY])
        names = [row["bench"] for row in rows]
        for pattern in ("walk", "wave"):
            self.assertIn(f"decode nvCOMP Bitcomp {pattern}", names)
        failed = [row for row in rows if row["GB/s"] is None]
        self.assertEqual([row["why"] for row in failed], ["no such algorithm"] * 2)
        self.assertEqual({row["ratio"] for row in rows if row["bench"].startswith("encode")}, {2.0})


class Table(unittest.TestCase):
    def test_has_a_row_a_bench_and_a_column_a_size(self):
        longer = json.dumps({"bench": "copy", "bytes": 1 << 20, "ratio": 1.0, "GB/s": 1800.0})
        missing = json.dumps({"bench": "torch.add", "bytes": None, "GB/s": None, "why": "torch is not installed"})
        self.assertEqual(
            table(['{"device": "a GPU"}', longer, COPY, missing]),
            ["| GB/s | ratio | 64 KiB | 1 MiB |", "|---|---|---|---|", "| copy | 1.0 | 900.0 | 1800.0 |", "torch.add: torch is not installed"],
        )

    def test_of_nothing_is_empty(self):
        self.assertEqual(table(['{"check": "device", "ok": false}']), [])


if __name__ == "__main__":
    unittest.main()
