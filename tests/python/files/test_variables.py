"""Tests of `taut compress` and `taut decompress` on variables of HDF5 files."""

import json

import contract
import numpy as np
import pytest
import taut
from taut import hdf5
from taut.__main__ import main

h5py = pytest.importorskip("h5py")


@pytest.fixture
def model(wave, tmp_path):
    """Returns the path of a file with variables as NetCDF-4 has them."""
    with h5py.File(tmp_path / "model.nc", "w") as file:
        file.create_dataset("air/t", data=wave, chunks=(64, 64), **hdf5.compression("lossless"))
        file["big"] = wave.astype(">f8")
        file["one"] = np.float32(2.5)
        file["name"] = "text"
    return tmp_path / "model.nc"


def test_a_variable_goes_to_a_taut_file_and_back(wave, model, tmp_path, capfd):
    packed = tmp_path / "t.taut"
    assert main(["compress", f"{model}::air/t", "--bound", "abs:1e-3", "-o", str(packed)]) == 0
    assert f"{model}::air/t -> {packed}" in capfd.readouterr().out
    assert taut.info(packed.read_bytes()).bound == "abs:1e-3"
    assert main(["decompress", str(packed), "-o", f"{tmp_path}/back.h5::a/b"]) == 0
    with h5py.File(tmp_path / "back.h5", "r") as file:
        contract.check(wave, file["a/b"][...], "abs:1e-3")
    assert not list(tmp_path.glob(".taut-*"))


def test_a_variable_refers_to_an_earlier_file(wave, model, tmp_path):
    np.save(tmp_path / "old.npy", wave + np.float32(0.01))
    old, packed, back = f"{tmp_path}/old.npy", f"{tmp_path}/new.taut", f"{tmp_path}/back.h5"
    assert main(["compress", f"{model}::air/t", "--bound", "abs:1e-3", "--reference", old, "-o", packed]) == 0
    assert main(["decompress", packed, "-o", f"{back}::t"]) == 2
    assert main(["decompress", packed, "--reference", old, "-o", f"{back}::t"]) == 0
    with h5py.File(back, "r") as file:
        contract.check(wave, file["t"][...], "abs:1e-3")


def test_single_values_and_foreign_byte_order(wave, model, tmp_path):
    for variable, expected in (("one", np.float32(2.5)), ("big", wave.astype("f8"))):
        assert main(["compress", f"{model}::{variable}", "-q", "-o", f"{tmp_path}/x.taut", "-f"]) == 0
        contract.check(np.asarray(expected), taut.decompress((tmp_path / "x.taut").read_bytes()), "lossless")


def test_default_name_and_json(model, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert main(["compress", "model.nc::air/t", "--json"]) == 0
    summary = json.loads(capfd.readouterr().out)
    assert (summary["input"], summary["output"]) == ("model.nc::air/t", "t.taut")


def test_an_existing_variable_is_kept(wave, model, tmp_path, capfd):
    (tmp_path / "w.taut").write_bytes(taut.compress(2 * wave))
    command = ["decompress", f"{tmp_path}/w.taut", "-o", f"{model}::air/t"]
    assert main(command) == 1
    assert "--force" in capfd.readouterr().err
    assert main([*command, "--force"]) == 0
    with h5py.File(model, "r") as file:
        np.testing.assert_array_equal(file["air/t"][...], 2 * wave)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{}::none"], "none"),
        (["{}::air"], "group"),
        (["{}::name"], "not coded"),
        (["{}::big", "--bound", "abs:x"], "abs:x"),
        (["absent.nc::t"], "absent.nc"),
    ],
)
def test_errors_name_what_is_wrong(arguments, message, model, capfd):
    assert main(["compress", *(word.format(model) for word in arguments)]) != 0
    assert message in capfd.readouterr().err


def test_several_variables_each_go_to_their_file(wave, model, tmp_path, capfd):
    variables = [f"{model}::air/t", f"{model}::big"]
    assert main(["compress", *variables, "-q", "-o", f"{tmp_path}/out/"]) == 0
    for name in ("t", "big"):
        contract.check(wave.astype("f8"), taut.decompress((tmp_path / f"out/{name}.taut").read_bytes()).astype("f8"), "lossless")
    with pytest.raises(SystemExit):
        main(["compress", *variables, "-o", f"{tmp_path}/one.taut"])
    assert "name a folder" in capfd.readouterr().err
    with pytest.raises(SystemExit):
        main(["compress", f"{model}::air/t", f"{model}::sea/t"])
    assert "one by one" in capfd.readouterr().err


def test_a_variable_goes_to_a_pipe(wave, model, capfdbinary):
    assert main(["compress", f"{model}::air/t", "-q", "-o", "-"]) == 0
    contract.check(wave, taut.decompress(capfdbinary.readouterr().out), "lossless")


def test_codecs_are_compared_on_variables(model, capfd):
    assert main(["bench-codec", f"{model}::air/t", "--codec", "auto", "--seconds", "1e-4", "-b", "abs:1e-3", "-b", "abs:1e-5", "--json"]) == 0
    tables = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [table["bound"] for table in tables] == ["abs:1e-3", "abs:1e-5"]
    assert "model.nc::air|t" in tables[0]["lines"][0]["input"]
