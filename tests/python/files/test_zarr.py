"""Tests of the codec of Zarr format 3."""

import json
import os
import subprocess
import sys
from pathlib import Path

import contract
import numpy as np
import pytest
import taut

zarr = pytest.importorskip("zarr")
from taut.zarr import Taut  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]


def create(store, values, bound, chunks=None, **options):
    options = {"compressors": None, "serializer": Taut(bound), **options}
    array = zarr.create_array(store, shape=values.shape, dtype=values.dtype, chunks=chunks or "auto", **options)
    array[...] = values
    return array


def test_comes_back_within_the_bound(field, tmp_path):
    create(tmp_path, field, "abs:1e-3", chunks=(16, 7))  # edge chunks are smaller than the field's part
    contract.check(field, zarr.open_array(tmp_path, mode="r")[:], "abs:1e-3")


def test_metadata_hold_a_bound_with_a_colon():
    assert Taut("abs=1e-3").to_dict() == Taut("abs:1e-3").to_dict()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (5,), (4, 3, 2, 1)])
def test_shapes(shape, tmp_path):
    values = np.full(shape, 1.5)
    create(tmp_path, values, "lossless")
    contract.check(values, np.asarray(zarr.open_array(tmp_path, mode="r")[...]), "lossless")


def test_parts_of_chunks_and_fortran_order(wave, tmp_path):
    array = create(tmp_path, wave, "abs:1e-3", chunks=(100, 90), config={"order": "F"})
    array[30:60, 5:250] = 2.0
    expected = wave.copy()
    expected[30:60, 5:250] = 2.0
    assert np.abs(zarr.open_array(tmp_path, mode="r")[20:290, 3:] - expected[20:290, 3:]).max() <= 2e-3  # coded twice


def test_shards(wave, tmp_path):
    create(tmp_path, wave, "abs:1e-3", chunks=(50, 50), shards=(150, 150))
    contract.check(wave, zarr.open_array(tmp_path, mode="r")[:], "abs:1e-3")


def test_metadata_and_chunks_name_the_bound(wave, tmp_path):
    create(tmp_path, wave, "abs:1e-3,codec=planes", chunks=(128, 77))
    metadata = json.loads((tmp_path / "zarr.json").read_text())
    assert metadata["codecs"] == [{"name": "taut", "configuration": {"bound": "abs:1e-3,codec=planes"}}]
    assert metadata["data_type"] == "float32" and metadata["chunk_grid"]["configuration"]["chunk_shape"] == [128, 77]
    about = taut.info((tmp_path / "c/0/0").read_bytes())
    assert (about.bound, about.shape, about.dtype, about.codec) == (metadata["codecs"][0]["configuration"]["bound"], (128, 77), np.float32, "planes")


def test_types_that_are_not_coded(wave, tmp_path):
    for dtype in (">f4", "bool", "M8[s]"):
        with pytest.raises(taut.DTypeError, match="byte order|not coded"):
            create(tmp_path / dtype.strip("<>"), np.zeros(4, dtype), "lossless")
    with pytest.raises(taut.PolicyError):
        Taut("abs:x")
    with pytest.raises(taut.ArgumentError, match="later version"):
        Taut.from_dict({"name": "taut", "configuration": {"bound": "lossless", "shape": 1}})


def test_damage_is_an_error(wave, tmp_path):
    create(tmp_path, wave, "abs:1e-3", chunks=(300, 300))
    chunk = tmp_path / "c/0/0"
    packed = chunk.read_bytes()
    others = taut.compress(wave[:30], "abs:1e-3"), taut.compress(wave.astype(np.float64))
    flipped = bytes([*packed[:700], packed[700] ^ 1, *packed[701:]])
    for damaged in (packed[:-1], packed[:9], flipped, b"x" * 300, *others):
        chunk.write_bytes(damaged)
        with pytest.raises(taut.FrameError):
            zarr.open_array(tmp_path, mode="r")[:]


def test_entry_points_find_the_codecs_without_an_import(wave, tmp_path):
    """Installs the entry points of pyproject.toml in a folder, and reads there."""
    text = (ROOT / "pyproject.toml").read_text()
    site = tmp_path / "site"
    about = site / "taut-0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: taut\nVersion: 0\n")
    groups = [part.partition("\n[")[0] for part in text.split("[project.entry-points.")[1:]]
    (about / "entry_points.txt").write_text("\n".join(f"[{group}".replace('"', "", 2) for group in groups).replace('= "', "= ").replace('"\n', "\n"))
    create(tmp_path / "3", wave, "abs:1e-3")
    create(tmp_path / "2", wave, "abs:1e-3", serializer="auto", compressors=numcodec("abs:1e-3"), zarr_format=2)
    program = f"import zarr; print(*[abs(zarr.open_array({str(tmp_path)!r} + f'/{{n}}')[:]).sum() > 0 for n in (2, 3)])"
    environment = {**os.environ, "PYTHONPATH": f"{site}:{os.environ['PYTHONPATH']}"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout == "True True\n", done.stderr


def numcodec(bound):
    from taut import numcodecs

    return numcodecs.Taut(bound)


def test_kernel_sets_read_each_other(wave, tmp_path):
    program = (
        "import sys, numpy as np, zarr, taut.zarr; wave = np.load(sys.argv[2]);"
        "zarr.create_array(sys.argv[1], shape=wave.shape, dtype='f4', serializer=taut.zarr.Taut('abs:1e-3'), compressors=None)[:] = wave"
    )
    np.save(tmp_path / "wave.npy", wave)
    environment = {**os.environ, "TAUT_KERNELS": "scalar"}
    subprocess.run([sys.executable, "-c", program, tmp_path / "z", tmp_path / "wave.npy"], env=environment, check=True)
    contract.check(wave, zarr.open_array(tmp_path / "z", mode="r")[:], "abs:1e-3")


@pytest.mark.filterwarnings("default")
def test_integers_and_a_warning_that_comes_once(tmp_path, recwarn):
    values = np.arange(100000).reshape(100, 1000)
    array = create(tmp_path / "i", values, "abs:1e-4", chunks=(50, 1000))
    np.testing.assert_array_equal(array[:], values)
    assert values.nbytes > 20 * array.nbytes_stored()
    assert not [one for one in recwarn if issubclass(one.category, taut.BoundWarning)]
    create(tmp_path / "w", np.sin(np.arange(10000.0)).reshape(100, 100), "abs:100", chunks=(10, 100))
    told = [str(one.message) for one in recwarn if issubclass(one.category, taut.BoundWarning)]
    assert len(told) == 1 and "a chunk under 'abs:100': the bound 100 exceeds the range" in told[0]
