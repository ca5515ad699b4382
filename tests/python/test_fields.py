"""Compresses real fields, in their shape, with every codec and kind of bound by taut.compress; NumPy checks
the result.

TAUT_FIELDS names the folder with MANIFEST.json and the fields, plain or as .xz; without it the tests are
skipped.
"""

import json
import lzma
import os
from pathlib import Path

import contract
import numpy as np
import pytest
import taut

FOLDER = Path(os.environ.get("TAUT_FIELDS", "/nonexistent"))
MANIFEST = FOLDER / "MANIFEST.json"
FIELDS = json.loads(MANIFEST.read_text())["fields"] if MANIFEST.is_file() else []
BOUNDS = ["abs", "snap", "rel:1e-2", "rel:1e-4", "psnr:80", "pwrel:1e-3", "rate:8", "lossless"]
CODECS = ["auto", "planes", "szx", "mpc", "zfp", "raw"]

pytestmark = pytest.mark.skipif(not FIELDS, reason="TAUT_FIELDS names no folder with fields")


def load(entry):
    plain = FOLDER / entry["raw_file"]
    data = plain.read_bytes() if plain.is_file() else lzma.decompress((FOLDER / entry["file"]).read_bytes())
    return np.frombuffer(data, entry["dtype"]).reshape(entry["dims"])


@pytest.mark.parametrize("entry", FIELDS, ids=lambda entry: entry["name"])
def test_every_codec_and_bound(entry):
    values, fill = load(entry), entry.get("fill_value")
    width = float(contract.finite_range(values, fill))
    coded = 0
    for bound in BOUNDS:
        bound = f"{bound}:{1e-3 * width:.6g}" if bound in ("abs", "snap") else bound
        for codec in CODECS:
            relative = bound.startswith(("rel", "psnr"))
            options = f",codec={codec}" + (f",fill={fill!r}" if fill is not None and relative else "")
            try:
                packed = taut.compress(values, bound + options)
            except (taut.PolicyError, taut.DTypeError):
                continue  # this codec does not serve this kind of bound, or is not built in
            contract.check(values, taut.decompress(packed), bound, fill)
            coded += 1
    assert coded >= 16
