"""Tests the page about xarray: its code as it stands, and what it says of readers."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import taut

xarray = pytest.importorskip("xarray", reason="xarray is not installed")
for needed in ("h5netcdf", "zarr", "dask.base"):  # the folder dask of the tests looks to xarray like the package
    pytest.importorskip(needed, reason=f"{needed} is not installed")

PAGE = Path(__file__).resolve().parents[3] / "docs/howto/use_with_xarray.md"


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Returns the names that the page's code defines, after it has written its files."""
    monkeypatch.chdir(tmp_path)
    found = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
        exec(compile(code, str(PAGE), "exec"), found)
    return found


def test_code_of_the_page(names):
    for read in (names["again"], names["stored"]):
        assert read.t.dtype == np.float32 and read.t.dims == ("time", "lat", "lon")
        assert np.abs(read.t.values - names["t"]).max() <= 0.01
    assert os.path.getsize("model.nc") < names["t"].nbytes / 10
    assert sum(file.stat().st_size for file in Path("model.zarr").rglob("*") if file.is_file()) < names["t"].nbytes / 10


def test_missing_values_and_packed_integers(names, tmp_path):
    data = names["ds"].copy(deep=True)
    data.t[0, :3, :5] = np.nan
    data["p"] = data.t
    filters = taut.hdf5.compression("abs:0.01")
    packed = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -9999, **filters}
    data.to_netcdf("m.nc", engine="h5netcdf", encoding={"t": {"chunksizes": names["chunks"], **filters}, "p": {"chunksizes": names["chunks"], **packed}})
    data.to_netcdf("plain.nc", engine="h5netcdf", encoding={"p": {key: packed[key] for key in ("dtype", "scale_factor", "add_offset", "_FillValue")}})
    read, plain = (xarray.open_dataset(name, engine="h5netcdf") for name in ("m.nc", "plain.nc"))
    assert np.array_equal(np.isnan(read.t), np.isnan(data.t)) and float(np.abs(read.t - data.t).max()) <= 0.01
    assert np.array_equal(read.p.values, plain.p.values, equal_nan=True)


def test_datasets_are_written_again(names):
    with pytest.raises(ValueError, match="unknown"):
        names["again"].to_netcdf("w.nc", engine="h5netcdf")
    names["again"].drop_encoding().to_netcdf("w.nc", engine="h5netcdf")


def test_netcdf4_reads(names):
    pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
    with pytest.raises(ValueError, match="unexpected encoding parameters"):
        names["ds"].to_netcdf("x.nc", engine="netcdf4", encoding=names["netcdf"])
    code = "import xarray; print(float(xarray.open_dataset('model.nc', engine='netcdf4').t[3, 4, 5]))"
    for plugins, ends in (("", 1), (taut.hdf5.plugin_folder(), 0)):
        environment = {**os.environ, "HDF5_PLUGIN_PATH": plugins}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert done.returncode == ends, done.stderr
    assert abs(float(done.stdout) - float(names["t"][3, 4, 5])) <= 0.01


@pytest.mark.parametrize("name", ["model.nc::t", "model.zarr::t"])
def test_bounds_of_the_files(names, name):
    done = subprocess.run([sys.executable, "-m", "taut", "bounds", name, "-o", "b.html", "-b", "abs:0.01"], capture_output=True, text=True)
    assert done.returncode == 0 and "40x128x256 float32" in done.stdout, done.stderr


def test_bounds_of_a_variable(names):
    assert "abs:0.01" in str(taut.bounds(names["ds"].t, bounds=["abs:0.01"]))
