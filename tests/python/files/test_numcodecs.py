"""Tests of the codec of numcodecs, alone and in arrays of Zarr format 2."""

import json

import contract
import numpy as np
import pytest
import taut

numcodecs = pytest.importorskip("numcodecs")
from taut.numcodecs import Taut  # noqa: E402


def test_comes_back_within_the_bound(field):
    codec = Taut("abs:1e-3")
    contract.check(field, codec.decode(codec.encode(field)), "abs:1e-3")
    contract.check(field, Taut().decode(Taut().encode(field)), "lossless")


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 4), (1,), (2, 3, 4, 5)])
def test_shapes(shape):
    values = np.full(shape, 1.5, np.float32)
    back = Taut("abs:0.1").decode(Taut("abs:0.1").encode(values))
    contract.check(values, back, "abs:0.1")


def test_out_and_order(wave):
    packed = Taut("abs:1e-3").encode(np.asfortranarray(wave))
    assert Taut().decode(packed).flags.f_contiguous
    out = np.empty_like(wave)
    assert Taut().decode(np.frombuffer(packed, np.uint8), out=out) is out
    contract.check(wave, out, "abs:1e-3")


def test_metadata_make_the_codec():
    codec = Taut("rel:1e-3,codec=planes")
    assert codec.get_config() == {"id": "taut", "bound": "rel:1e-3,codec=planes"}
    assert numcodecs.get_codec(codec.get_config()) == codec
    with pytest.raises(taut.PolicyError, match="abs:1e-4"):
        Taut("abs:-1")


def test_types_that_are_not_coded(wave):
    with pytest.raises(taut.DTypeError, match="foreign byte order"):
        Taut().encode(wave.astype(">f4"))
    with pytest.raises(taut.DTypeError, match="not coded"):
        Taut().encode(np.array(["2026-01-01"], "M8[D]"))


def test_damage_is_an_error(wave):
    packed = bytearray(Taut("abs:1e-3").encode(wave))
    for damaged in (packed[:-1], packed[:50], b"", b"x" * 300):
        with pytest.raises(taut.FrameError):
            Taut().decode(bytes(damaged))
    for at in range(0, len(packed), 97):
        changed = bytearray(packed)
        changed[at] ^= 0x10
        with pytest.raises(taut.FrameError):
            Taut().decode(changed)


def test_arrays_of_zarr_format_2(wave, tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(
        tmp_path, shape=wave.shape, chunks=(128, 77), dtype="f4", zarr_format=2, compressors=Taut("abs:1e-3"), order="F"
    )
    array[:] = wave
    contract.check(wave, zarr.open_array(tmp_path, mode="r")[:], "abs:1e-3")
    metadata = json.loads((tmp_path / ".zarray").read_text())
    assert metadata["compressor"] == {"id": "taut", "bound": "abs:1e-3"} and metadata["chunks"] == [128, 77]
    about = taut.info((tmp_path / "0.0").read_bytes())
    assert (about.bound, about.shape, about.dtype) == ("abs:1e-3", (128, 77), np.float32)
