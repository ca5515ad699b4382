"""Tests of the filter of HDF5, with h5py and, where they are installed, with HDF5's own programs."""

import os
import shutil
import subprocess
import sys

import contract
import numpy as np
import pytest
import taut

h5py = pytest.importorskip("h5py")
from taut import hdf5  # noqa: E402


def write(path, values, bound, chunks=(16, 7), **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=chunks, **{**hdf5.compression(bound), **options})


def read(path):
    with h5py.File(path, "r") as file:
        return file["x"][...]


def first_chunk(path):
    with h5py.File(path, "r") as file:
        return file["x"].id.read_direct_chunk((0,) * file["x"].ndim)[1]


def test_comes_back_within_the_bound(field, tmp_path):
    write(tmp_path / "f.h5", field, "abs:1e-3")
    contract.check(field, read(tmp_path / "f.h5"), "abs:1e-3")
    write(tmp_path / "f.h5", field, "lossless")
    contract.check(field, read(tmp_path / "f.h5"), "lossless")


def test_files_hold_a_bound_with_a_colon():
    assert hdf5.words("abs=1e-3") == hdf5.words("abs:1e-3")


def test_shapes_and_resizing(wave, tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        empty = file.create_dataset("empty", shape=(0, 300), maxshape=(None, 300), chunks=(64, 64), dtype="f4", **hdf5.compression("abs:1e-3"))
        assert empty[...].shape == (0, 300)
        empty.resize(300, axis=0)
        empty[...] = np.asfortranarray(wave)
        file.create_dataset("unset", shape=(9, 9), chunks=(4, 4), dtype="f4", fillvalue=np.nan, **hdf5.compression("abs:1e-3"))[0, 0] = 1
    with h5py.File(tmp_path / "f.h5", "r") as file:
        contract.check(wave, file["empty"][...], "abs:1e-3")
        assert np.isnan(file["unset"][0, 1]) and abs(file["unset"][0, 0] - 1) <= 1e-3
        with pytest.raises(TypeError):
            file.create_dataset("scalar", data=1.0, **hdf5.compression())  # HDF5 filters no single values


def test_large_chunks_of_several_frames(tmp_path):
    values = np.cumsum(np.random.default_rng(1).normal(size=(3, 1500, 1000)), axis=1).astype(np.float32)
    write(tmp_path / "f.h5", values, "rel:1e-4", chunks=values.shape)
    assert taut.info(first_chunk(tmp_path / "f.h5")).frames > 1
    contract.check(values, read(tmp_path / "f.h5"), "rel:1e-4")


def test_the_file_explains_itself(wave, tmp_path):
    write(tmp_path / "f.h5", wave, "rel:1e-3,codec=planes", chunks=(100, 50))
    with h5py.File(tmp_path / "f.h5", "r") as file:
        assert hdf5.coding(file["x"]) == hdf5.Coding("rel:1e-3,codec=planes", np.dtype("f4"), (100, 50))
    about = taut.info(first_chunk(tmp_path / "f.h5"))
    assert (about.bound, about.dtype, about.shape, about.codec) == ("rel:1e-3,codec=planes", np.float32, (100, 50), "planes")
    np.testing.assert_array_equal(taut.decompress(first_chunk(tmp_path / "f.h5")), read(tmp_path / "f.h5")[:100, :50])
    with h5py.File(tmp_path / "f.h5", "w") as file:
        assert hdf5.coding(file.create_dataset("plain", data=wave)) is None


def test_bfloat16(bfloat16, tmp_path):
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(15, 7, 8, 0, 7)
    kind.set_size(2)
    kind.set_ebias(127)
    with h5py.File(tmp_path / "f.h5", "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((20, 30))
        plist.set_filter(hdf5.FILTER, 0, hdf5.words("abs:1e-2"))
        space = h5py.h5s.create_simple((20, 30))
        dataset = h5py.h5d.create(file.id, b"x", kind, space, plist)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(bfloat16), mtype=kind)
    contract.check(bfloat16, taut.decompress(first_chunk(tmp_path / "f.h5")), "abs:1e-2")


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (np.zeros((20, 30), ">f4"), {}, "big-endian"),
        (np.zeros((20, 30), "f4"), {"shuffle": True}, "must be the first"),
        (np.zeros((20, 30), bool), {}, "not coded"),
        (np.zeros((20, 30), [("a", "f4"), ("b", "i4")]), {}, "compound"),
    ],
)
def test_what_is_refused(values, options, message, tmp_path):
    with pytest.raises((ValueError, OSError), match=message):
        write(tmp_path / "f.h5", values, "abs:1e-3", **options)


def test_bounds_that_are_refused(wave, tmp_path):
    with pytest.raises(taut.PolicyError, match="abs:1e-4"):
        hdf5.compression("abs:-1")
    with pytest.raises(taut.ArgumentError, match="512"):
        hdf5.compression("abs:1." + 600 * "0")
    with pytest.raises((ValueError, OSError), match="szx"):  # when the dataset is made, not when a chunk is written
        write(tmp_path / "f.h5", wave.astype(np.float16), "abs:1e-3,codec=szx")
    bad = list(hdf5.words("abs:1e-3"))
    for position, word, message in ((0, 7, "version"), (2, 33, "extents"), (2, 3, "end too early"), (3, 4000, "512|early")):
        words = tuple(bad[:position] + [word] + bad[position + 1 :])
        with pytest.raises((ValueError, OSError), match=message):
            write(tmp_path / "f.h5", wave, "lossless", compression_opts=words)


def test_damage_is_an_error(wave, tmp_path):
    write(tmp_path / "f.h5", wave, "abs:1e-3", chunks=(300, 300))
    packed = first_chunk(tmp_path / "f.h5")
    others = taut.compress(wave[:30], "abs:1e-3"), taut.compress(wave.astype(np.float64))
    places = range(0, len(packed), len(packed) // 50)
    flipped = [bytes([*packed[:at], packed[at] ^ 1, *packed[at + 1 :]]) for at in places]
    for damaged in (packed[:-1], packed[:9], b"x" * 300, *others, *flipped):
        with h5py.File(tmp_path / "f.h5", "r+") as file:
            file["x"].id.write_direct_chunk((0, 0), damaged)
        with pytest.raises(OSError, match="taut: a chunk|filter returned failure"):  # HDF5 from 1.14 on hides messages
            read(tmp_path / "f.h5")


def test_kernel_sets_read_each_other(wave, tmp_path):
    program = (
        "import sys, numpy as np, h5py; from taut import hdf5; wave = np.load(sys.argv[2]);"
        "h5py.File(sys.argv[1], 'w').create_dataset('x', data=wave, chunks=(64, 64), **hdf5.compression('abs:1e-3'))"
    )
    np.save(tmp_path / "wave.npy", wave)
    environment = {**os.environ, "TAUT_KERNELS": "scalar"}
    subprocess.run([sys.executable, "-c", program, tmp_path / "f.h5", tmp_path / "wave.npy"], env=environment, check=True)
    contract.check(wave, read(tmp_path / "f.h5"), "abs:1e-3")
    write(tmp_path / "g.h5", wave, "abs:1e-3", chunks=(64, 64))
    assert first_chunk(tmp_path / "f.h5") == first_chunk(tmp_path / "g.h5")


@pytest.mark.skipif(not shutil.which("h5repack"), reason="no h5repack: package hdf5-tools")
def test_hdf5s_own_programs(wave, tmp_path):
    with h5py.File(tmp_path / "plain.h5", "w", libver="v108") as file:
        file.create_dataset("x", data=wave)
    environment = {**os.environ, "HDF5_PLUGIN_PATH": hdf5.plugin_folder()}
    words = hdf5.words("abs:1e-3")
    user = f"UD={hdf5.FILTER},0,{len(words)},{','.join(map(str, words))}"
    repack = ["h5repack", "-l", "CHUNK=64x64", "-f", user, tmp_path / "plain.h5", tmp_path / "coded.h5"]
    subprocess.run(repack, env=environment, check=True)
    contract.check(wave, read(tmp_path / "coded.h5"), "abs:1e-3")
    with h5py.File(tmp_path / "coded.h5", "r") as file:
        assert hdf5.coding(file["x"]) == hdf5.Coding("abs:1e-3", np.dtype("f4"), (64, 64))
    dump = ["h5dump", "-d", "/x", "-b", "LE", "-o", tmp_path / "x.bin", tmp_path / "coded.h5"]
    subprocess.run(dump, env=environment, check=True, capture_output=True)
    np.testing.assert_array_equal(np.fromfile(tmp_path / "x.bin", "f4"), read(tmp_path / "coded.h5").ravel())


@pytest.mark.skipif(not shutil.which("nccopy"), reason="no nccopy: package netcdf-bin")
def test_nccopy(wave, tmp_path):
    with h5py.File(tmp_path / "plain.nc", "w", libver="v108") as file:
        for name in "xy":
            file.create_dataset(name, data=np.arange(300.0)).make_scale(name)
        values = file.create_dataset("t", data=wave, chunks=(64, 64))
        for axis, name in enumerate("xy"):
            values.dims[axis].attach_scale(file[name])
    environment = {**os.environ, "HDF5_PLUGIN_PATH": hdf5.plugin_folder()}
    words = ",".join(map(str, hdf5.words("abs:1e-3")))
    copy = ["nccopy", "-F", f"t,{hdf5.FILTER},{words}", tmp_path / "plain.nc", tmp_path / "coded.nc"]
    subprocess.run(copy, env=environment, check=True)
    with h5py.File(tmp_path / "coded.nc", "r") as file:
        assert hdf5.coding(file["t"]) == hdf5.Coding("abs:1e-3", np.dtype("f4"), (64, 64))
        contract.check(wave, file["t"][...], "abs:1e-3")


def test_the_words_for_other_programs(capsys):
    assert hdf5.main(["abs:1e-3"]) == 0
    printed = capsys.readouterr().out
    assert hdf5.plugin_folder() in printed and f"UD={hdf5.FILTER},0,6,1,0,0,8," in printed


@pytest.mark.parametrize("bound", ["abs:1e-4", "rel:1e-3", "pwrel:1e-3"])
def test_integers_are_coded_without_loss_under_every_bound(bound, tmp_path):
    values = np.arange(100000).reshape(100, 1000)
    write(tmp_path / "f.h5", values, bound, chunks=(50, 1000))
    np.testing.assert_array_equal(read(tmp_path / "f.h5"), values)
    assert values.nbytes > 20 * (tmp_path / "f.h5").stat().st_size


def test_a_constant_chunk_and_a_warning_that_comes_once(tmp_path):
    write(tmp_path / "c.h5", np.full((100, 100), 273.15, "f4"), "abs:1e-2", chunks=(50, 50))
    assert np.abs(read(tmp_path / "c.h5") - 273.15).max() <= 1.01e-2
    program = (
        "import sys, h5py, numpy as np, taut.hdf5\n"
        "values = np.sin(np.arange(10000.0)).reshape(100, 100)\n"
        "h5py.File(sys.argv[1], 'w').create_dataset('x', data=values, chunks=(10, 100), **taut.hdf5.compression('abs:100'))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "w.h5")], capture_output=True, text=True, check=True)
    assert done.stderr.count("warning") == 1
    assert "a chunk of an HDF5 dataset under 'abs:100': the bound 100 exceeds the range 2 of the values" in done.stderr
