"""The operator of ADIOS2, by ADIOS2 itself: blocks of variables in BP files."""

import os
import subprocess
import sys
from pathlib import Path

import contract
import numpy as np
import pytest
import taut

adios2 = pytest.importorskip("adios2", reason="no adios2: pip install 'adios2>=2.12'")

FOLDER = Path(taut.__file__).parent / "lib/taut/adios2"
if not (FOLDER / "libtaut_adios2.so").exists():
    pytest.skip("Taut was built without the headers of ADIOS2", allow_module_level=True)


@pytest.fixture(autouse=True)
def plugin_path(monkeypatch):
    monkeypatch.setenv("ADIOS2_PLUGIN_PATH", str(FOLDER))


def write(file, values, engine="BP5", **parameters):
    """Writes the array by ADIOS2, with Taut's operator and these parameters."""
    io = adios2.Adios().declare_io("writer")
    io.set_engine(engine)
    extents = list(values.shape)
    variable = io.define_variable("t", values, extents, [0] * len(extents), extents)
    variable.add_operation_string("plugin", {"PluginName": "taut", "PluginLibrary": "taut_adios2", **parameters})
    with adios2.Stream(io, str(file), "w") as stream:
        stream.begin_step()
        stream.write(variable, values)
        stream.end_step()


def read(file):
    """Returns the array of the first step."""
    with adios2.FileReader(str(file)) as stream:
        return stream.read("t", step_selection=[0, 1]).reshape(stream.inquire_variable("t").shape())


def bytes_in(folder):
    return sum(file.stat().st_size for file in folder.rglob("data.*"))


@pytest.mark.parametrize("bound", ["lossless", "abs:1e-3", "rel:1e-4"])
def test_values_come_back_within_the_bound(field, bound, tmp_path):
    if field.dtype in (np.float16, np.complex64):
        pytest.skip("ADIOS2 has no halves, and its FileReader does not know complex64")
    write(tmp_path / "f.bp", field, bound=bound)
    contract.check(field, read(tmp_path / "f.bp"), bound)


def test_blocks_shrink(wave, tmp_path):
    write(tmp_path / "f.bp", wave, bound="abs:1e-3,codec=planes")
    assert bytes_in(tmp_path / "f.bp") < wave.nbytes / 3


def test_values_that_do_not_compress_fit(tmp_path):
    values = np.random.default_rng(1).integers(0, 2**63, (70, 1000))
    write(tmp_path / "f.bp", values, bound="lossless")
    np.testing.assert_array_equal(read(tmp_path / "f.bp"), values)


@pytest.mark.parametrize("engine", ["BP4", "BP5"])
def test_engines(engine, wave, tmp_path):
    write(tmp_path / "f.bp", wave, engine, bound="abs:1e-3")
    contract.check(wave, read(tmp_path / "f.bp"), "abs:1e-3")


@pytest.mark.parametrize("engine", ["BP4", "BP5"])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "the parameter 'bound' is missing"),
        ({"bound": "abs:-1"}, "bound cannot be 'abs:-1'"),
        ({"bound": "abs:1e-3", "Accuracy": "1e-3"}, "the parameter 'accuracy' is unknown"),
        ({"bound": "abs:1e-3,codec=none"}, "none"),
    ],
)
def test_wrong_parameters_are_named_and_nothing_is_lost(engine, parameters, message, wave, tmp_path, capfd):
    write(tmp_path / "f.bp", wave, engine, **parameters)
    said = capfd.readouterr().err
    assert said.count("taut: error:") == 1
    assert message in said and "the values are written without loss" in said
    np.testing.assert_array_equal(read(tmp_path / "f.bp"), wave)


def test_damage_is_an_error(wave, tmp_path):
    write(tmp_path / "f.bp", wave, bound="abs:1e-3")
    data = tmp_path / "f.bp/data.0"
    contents = bytearray(data.read_bytes())
    contents[contents.index(b"\x89TAUT") + 200] ^= 1
    data.write_bytes(contents)
    with pytest.raises(Exception, match="taut: .*damaged"):
        read(tmp_path / "f.bp")


def test_a_reader_needs_no_parameters_but_the_plugin(wave, tmp_path):
    write(tmp_path / "f.bp", wave, bound="abs:1e-3")
    program = "import adios2, sys; adios2.FileReader(sys.argv[1]).read('t')"
    environment = {**os.environ, "ADIOS2_PLUGIN_PATH": str(tmp_path)}
    without = subprocess.run([sys.executable, "-c", program, tmp_path / "f.bp"], env=environment, capture_output=True, check=False)
    assert without.returncode != 0
    subprocess.run([sys.executable, "-c", program, tmp_path / "f.bp"], check=True)
