"""Tests `taut bounds`: errors against known ones, knee, warnings, inverse questions, kinds of arrays and files, and the page."""

import json
import re
import struct
import xml.etree.ElementTree as ElementTree
import zlib

import numpy as np
import pytest
import taut
from taut._bounds import _command, _judge, _survey
from taut._bounds._detail import ssim
from taut._bounds._information import information_of
from taut._bounds._source import slabs


@pytest.fixture(scope="module")
def field():
    x = np.linspace(0, 20, 200, dtype=np.float32)
    return (np.sin(x)[:, None] * np.cos(x)[None, :] + 2).astype(np.float32)


def test_errors_are_those_of_the_decoded_values(field):
    found = taut.bounds(field, ["rel:1e-2", "abs:1e-4", "pwrel:1e-3"])
    assert [row.bound for row in found.rows] == ["rel:1e-2", "abs:1e-4", "lossless", "pwrel:1e-3"]
    for row in found.rows:
        packed = taut.compress(field, row.bound)
        error = taut.decompress(packed).astype(np.float64) - field
        assert row.greatest == np.abs(error).max()
        assert row.rms == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-4)
        assert row.mean == pytest.approx(error.mean(), abs=1e-5 * max(row.greatest, 1e-30))
        assert row.ratio == pytest.approx(field.nbytes / len(packed), rel=0.2)
        if row.rms:
            assert row.psnr(found.survey.range) == pytest.approx(20 * np.log10(np.ptp(field) / row.rms))
    tight = found.row("abs:1e-4").detail
    assert tight.histogram.sum() == field.size and tight.mean_ssim() > 0.9999 and len(tight.autocorrelation()) == 32


def test_known_measures():
    rng = np.random.default_rng(1)
    picture, noise = rng.normal(size=(64, 64)), rng.normal(size=(64, 64))
    assert ssim(picture, picture, 1.0) == pytest.approx(1)
    assert ssim(picture, noise, 1.0) < 0.1
    assert ssim(picture[:5], picture[:5], 1.0) is None
    assert _judge.knee([(10.0**-k, 2.0) for k in range(6)]) is None  # a flat curve
    assert _judge.knee([(10.0**-k, 3.0 * k + 1) for k in range(6)]) is None  # a straight one
    assert _judge.knee([(10.0**-k, [0.5, 1, 1.5, 2, 6, 10][k]) for k in range(6)]) == 3
    assert _survey.grid_of(np.unique(np.round(rng.normal(size=4096), 2))) == pytest.approx(0.01, rel=1e-3)
    assert _survey.grid_of(np.unique(rng.normal(size=4096))) is None
    smooth = np.sin(np.arange(1 << 16) / 900)
    assert _survey.noise_of(smooth) is None
    assert _survey.noise_of(smooth + 1e-3 * rng.normal(size=smooth.size)) == pytest.approx(1e-3, rel=0.1)


def test_bits_of_information_of_values_without_an_order_are_not_proposed():
    rng = np.random.default_rng(3)
    values = (np.repeat(rng.normal(size=500) * 10, 100) + rng.normal(size=50_000) * 3).astype(np.float32)
    result = taut.bounds(values, bits_of_information=True)
    assert result.information.kept < 4 and result.proposed.startswith("rel")
    (answer,) = result.conclusion.answers
    assert answer.bound is None and "in any order" in answer.text


@pytest.mark.parametrize("noise, kept", [(1e-2, (3, 7)), (1e-4, (10, 14))])
def test_bits_of_information_end_at_the_noise(noise, kept):
    rng = np.random.default_rng(2)
    values = (1.5 + 0.3 * np.sin(np.arange(1 << 18) / 5000) + noise * rng.normal(size=1 << 18)).astype(np.float32)
    found = information_of([values], [])
    assert kept[0] <= found.kept <= kept[1] and not any(found.bits[-6:])
    assert found.bound == f"pwrel:{2.0 ** -(found.kept + 1):.3g}"
    result = taut.bounds(values, bits_of_information=True)
    assert result.proposed == found.bound and result.row(found.bound).ratio > 2


def test_inverse_questions(field):
    by_ratio = taut.bounds(field, ratio=10)
    row = by_ratio.row(by_ratio.proposed)
    assert 10 <= row.ratio < 14 and by_ratio.rule == "* : " + row.bound
    by_psnr = taut.bounds(field, psnr=60)
    assert 60 <= by_psnr.row(by_psnr.proposed).psnr(by_psnr.survey.range) < 63
    assert len(by_psnr.rows) <= 12
    impossible = taut.bounds(field, ratio=1e6)
    assert impossible.conclusion.answers[0].bound is None and impossible.proposed
    with pytest.raises(taut.ArgumentError, match="ratio 0.5: give a number"):
        taut.bounds(field, ratio=0.5)


def test_missing_values_are_left_out(field):
    holed = field.copy()
    holed[:3], holed[50, 50], holed[51, 51] = 1e20, np.nan, np.inf
    found = taut.bounds(holed)
    assert found.survey.fills == {float(np.float32(1e20)): 600} and (found.survey.nan, found.survey.infinite) == (1, 1)
    assert found.rows[0].bound == "rel:1e-1,fill=1e+20" and found.rows[0].greatest <= 0.2
    assert found.rule.endswith("fill=1e+20") and found.survey.range < 2.1
    assert any("600 values are 1e+20" in text for text in found.warnings) and any("1 values are NaN" in text for text in found.warnings)
    masked = taut.bounds(np.ma.array(field, mask=field > 2.9))
    assert masked.survey.greatest <= 2.9 and len(masked.survey.fills) == 1


@pytest.mark.parametrize(
    "array, warning",
    [
        (np.full((20, 20), 3.0), "all values are 3"),
        (np.array(7.0), "all values are 7"),
        (np.array([7.0]), "all values are 7"),
        (np.full(10, np.nan), "no value is finite"),
        (np.arange(5000, dtype=np.int32), "integers are coded without loss"),
        (np.exp(1j * np.arange(5000) / 100).astype(np.complex64), "complex numbers"),
        (np.sin(np.arange(5000) / 100).astype(np.float32).astype(np.float64), "those of float32"),
        (np.repeat([0.0, 1.0, 2.0], 2000), "3 different values"),
        (np.round(np.sin(np.arange(9000) / 100), 3), "grid of step 0.001"),
    ],
)
def test_kinds_of_arrays(array, warning):
    found = taut.bounds(array, quantities=["mean"])
    assert any(warning in text for text in found.warnings), found.warnings
    assert all(row.greatest <= (row.limit or 0) for row in found.rows)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("dtype", [np.float16, ">f4", ">f8", np.float64])
def test_types(field, dtype):
    found = taut.bounds(field.astype(dtype), ["abs:0.01"])
    assert 0 < found.rows[0].greatest <= 0.01


def test_bfloat16(field):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    found = taut.bounds(field.astype(ml_dtypes.bfloat16), ["abs:0.1"], bits_of_information=True)
    assert 0 < found.rows[0].greatest <= 0.1 and len(found.information.bits) == 16


def test_bounds_that_ruin(field):
    spikes = np.abs(np.random.default_rng(1).standard_cauchy((200, 200))).astype(np.float32)
    found = taut.bounds(spikes, ["rel:1e-1", "rel:1e-6", "abs:1e9"])
    assert any("abs:1e9 exceeds the range" in text for text in found.warnings)
    assert any("biased" in text and "rel:1e-1" in text for text in found.warnings)


def test_quantities(field):
    found = taut.bounds(field, ["rel:1e-3"], quantities={"energy": "(x**2).sum()", "top": lambda x: x.max()})
    sums = found.to_dict()["bounds"][0]["quantities"]
    assert 0 <= sums["energy"]["relative_error"] < 1e-3 and sums["top"]["greatest_error"] <= 2.1e-3
    assert "mean" in taut.bounds(field, ["rel:1e-3"], quantities=["mean"]).to_dict()["bounds"][0]["quantities"]
    for text, match in (("nothing", "is none of mean"), ("q=y+1", "NameError.*the values are x"), ("q=open('f')", "NameError"), ("q=1+", "write")):
        with pytest.raises(taut.ArgumentError, match=match):
            taut.bounds(field, quantities=[text])


@pytest.mark.parametrize(
    "array, error, text",
    [
        (np.empty((0, 3)), taut.ArgumentError, "is empty, of shape 0x3"),
        (np.array(["a"]), taut.DTypeError, "convert"),
        ([1.0], taut.DTypeError, "numpy.asarray"),
    ],
)
def test_refusals(array, error, text):
    with pytest.raises(error, match=text):
        taut.bounds(array)


def test_wrong_bounds_are_refused(field):
    with pytest.raises(taut.PolicyError, match="abs:1e-4"):
        taut.bounds(field, ["abs:0"])


def test_blocks_cover_an_array():
    for shape, chunks in (((7, 3000, 3000), None), ((100, 500, 1000), (8, 100, 100)), ((10**7,), None), ((), None)):
        array = np.zeros(shape, np.int8)
        for selection in slabs(shape, 4, chunks):
            array[selection] += 1
            assert array[selection].size <= 1 << 24
        assert array.min() == array.max() == 1


def test_large_arrays_are_sampled(monkeypatch):
    monkeypatch.setattr(_survey, "WHOLE", 1 << 12)
    monkeypatch.setattr(_survey, "BOX_VALUES", 1 << 11)
    found = taut.bounds(np.sin(np.arange(50_000) / 70), ["rel:1e-3"])
    assert found.to_dict()["values"]["sampled_values"] <= 8 << 11
    assert found.rows[0].counted == 50_000 and found.rows[0].detail.values <= 8 << 11


def run(capsys, *words):
    code = _command.main([str(word) for word in words])
    return code, *capsys.readouterr()


def test_page_and_json(field, tmp_path, capsys):
    np.save(tmp_path / "a.npy", field)
    np.asfortranarray(field[:, :100]).tofile(tmp_path / "b.f32")
    page = tmp_path / "page.html"
    code, out, _ = run(capsys, tmp_path / "a.npy", tmp_path / "b.f32", "-o", page, "--quantity", "energy", "--psnr", 60)
    assert code == 0 and "knee" in out and 'TAUT_RULES="* : rel:' in out and str(page) in out
    assert max(map(len, out.split("TAUT_RULES")[0].split("  !")[0].splitlines()[1:12])) <= 88
    text = page.read_text()
    assert text.count("<h1>") == 2 and "prefers-color-scheme" in text and "TAUT_RULES" in text
    for svg in re.findall(r"<svg.*?</svg>", text, re.S):
        ElementTree.fromstring(svg)
    tags = re.findall(r"<(/?)(div|table|figure|ul|pre|p|h\d|b|svg)\b", text)
    assert all(sum(1 if not end else -1 for end, name in tags if name == one) == 0 for _, one in tags)
    for outside in re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?([^"\')>]*)', text):
        assert outside.startswith("data:image/png;base64,")
    assert not re.search(r"<(script|link|iframe)|https?://", text) and "nan" not in re.sub(r"base64,[^\"]*", "", text).lower()
    code, out, _ = run(capsys, tmp_path / "a.npy", "-o", page, "--json")
    figures = json.loads(out)
    assert code == 0 and (figures["format"], figures["version"], figures["shape"]) == ("taut-bounds", 1, [200, 200])
    assert {"ratio", "greatest_error", "rms_error", "mean_error", "psnr", "ssim", "histogram", "autocorrelation", "error_spectrum",
            "gradient_error", "quantities"} <= set(figures["bounds"][0]) and 8 <= len(figures["bounds"]) <= 12  # fmt: skip


def test_pictures_are_png():
    import base64

    from taut._charts import picture

    data = base64.b64decode(picture(np.array([[0.0, 1.0, np.nan]]), 0, 1).partition(",")[2])
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (3, 1)
    at = data.index(b"IDAT")
    size = struct.unpack(">I", data[at - 4 : at])[0]
    assert zlib.decompress(data[at + 4 : at + 4 + size]) == bytes([0, 1, 255, 0])


def test_files_that_cannot_be_read(tmp_path, capsys):
    (tmp_path / "x.dat").write_bytes(bytes(10))
    (tmp_path / "x.f32").write_bytes(bytes(10))
    (tmp_path / "y.f32").write_bytes(bytes(12))
    (tmp_path / "old.nc").write_bytes(b"CDF\x01" + bytes(20))
    np.save(tmp_path / "cut.npy", np.zeros(100))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:-8])
    for words, text in (
        (["none.npy"], "none.npy: No such file"),
        (["x.dat"], "say it with --dtype"),
        (["x.f32"], "no multiple of 4"),
        (["y.f32", "--shape", "2x2"], "holds 3 values"),
        (["y.f32::t"], "has no variables"),
        (["cut.npy"], "shorter than its shape"),
        (["."], "no Zarr store|Zarr needs zarr"),
    ):
        code, _, err = run(capsys, tmp_path / words[0], *words[1:], "-o", tmp_path / "p.html")
        assert code == 1 and re.search(text, err), err
    assert not (tmp_path / "p.html").exists()


def test_variables_of_hdf5(field, tmp_path, capsys):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.nc", "w") as file:
        file.create_dataset("air/t", data=field, chunks=(16, 50)).attrs["_FillValue"] = np.float32(2.0)
        file["air/count"] = np.arange(5)
    code, out, _ = run(capsys, tmp_path / "x.nc", "-o", tmp_path / "p.html")
    assert code == 0 and "x.nc::air/t: 200x200 float32" in out and "values are 2.0, which stands for missing" in out
    code, _, err = run(capsys, f"{tmp_path / 'x.nc'}::air/none", "-o", tmp_path / "p.html")
    assert code == 1 and "has no variable air/none; its fields are air/t" in err


def test_variables_of_zarr(field, tmp_path, capsys):
    zarr = pytest.importorskip("zarr")
    zarr.open_group(str(tmp_path / "x.zarr"), mode="w").create_array("t", data=field, chunks=(64, 64))
    code, out, _ = run(capsys, f"{tmp_path / 'x.zarr'}::t", "-o", tmp_path / "p.html", "-b", "abs:1e-3")
    assert code == 0 and "abs:1e-3" in out


def test_arrays_that_are_read_by_slices(field):
    class Variable:  # what xarray and netCDF4 give
        shape, dtype, name, attrs = field.shape, field.dtype, "t2m", {"missing_value": 2.0}

        def __getitem__(self, selection):
            return field[selection]

    found = taut.bounds(Variable(), ["rel:1e-3"])
    assert found.name == "t2m" and found.rows[0].bound.startswith("rel:1e-3")
