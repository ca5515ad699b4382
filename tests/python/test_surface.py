"""Tests names, texts and errors of the package that need no array."""

import doctest
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import taut


def test_info_tells_what_is_there(wave):
    about = taut.info(taut.compress(wave, "rel:1e-3"))
    assert about.shape == wave.shape and about.dtype == wave.dtype and about.nbytes == wave.nbytes
    assert about.bound == "rel:1e-3" and about.frame_bound.startswith("abs:") and about.codec == "planes"
    assert about.ratio > 4
    assert taut.info(taut.compress(np.empty((0, 3)))).codec is None


def test_policies():
    assert str(taut.Policy("abs:1e-4", on="input", segments=4, dims=(3, 4))) == "abs:1e-4,on=input,segments=4,dims=3x4"
    assert taut.Policy("lossless") == taut.Policy("lossless") and len({taut.Policy("off"), taut.Policy("off")}) == 1
    with pytest.raises(taut.PolicyError, match="column 13.*use result, input or likely"):
        taut.Policy("abs:1e-4", on="nothing")


def test_a_bound_with_an_equals_sign_is_stored_with_a_colon(wave):
    assert taut.compress(wave, "abs=1e-3,checksum=on") == taut.compress(wave, "abs:1e-3,checksum=on")
    assert taut.Policy("abs=1e-3", on="input") == taut.Policy("abs:1e-3,on=input")


def test_the_policy_of_a_block(wave):
    exact = taut.compress(wave)
    assert taut.info(exact).bound == "lossless"
    with taut.policy("abs:1e-2", codec="szx"):
        assert taut.info(taut.compress(wave)).bound == "abs:1e-2,codec=szx"
        assert taut.info(taut.compress(wave, "abs:1")).bound == "abs:1"
        with taut.policy("lossless"):
            assert taut.compress(wave) == exact
        other = []
        thread = threading.Thread(target=lambda: other.append(taut.info(taut.compress(wave)).bound))
        thread.start()
        thread.join()
        assert other == ["lossless"]  # the block applies to this thread alone
    assert taut.compress(wave) == exact


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: taut.compress(np.zeros(3), "abs:0"), taut.PolicyError, "abs:1e-4"),
        (lambda: taut.compress(np.zeros(3), "abs:1,dims=3"), taut.PolicyError, "leave it away"),
        (lambda: taut.compress(np.zeros(3), "off"), taut.PolicyError, "column"),
        (lambda: taut.compress(np.zeros(3), 1e-3), taut.PolicyError, "say what the number limits: abs:0.001"),
        (lambda: taut.Policy(0), taut.PolicyError, "say what the number limits"),
        (lambda: taut.compress([1.0]), taut.DTypeError, "numpy.asarray"),
        (lambda: taut.compress(np.zeros(3, ">f4")), taut.DTypeError, "byte order"),
        (lambda: taut.compress(np.array(["a"])), taut.DTypeError, "convert"),
        (lambda: taut.compress(np.zeros(3, np.float16), "abs:1,codec=szx"), taut.DTypeError, "codec="),
        (lambda: taut.decompress(b"something else"), taut.FrameError, "not what taut.compress wrote"),
    ],
)
def test_errors_name_the_remedy(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call()
    assert isinstance(raised.value, taut.Error) and raised.value.status != 0


def test_threads_compress_at_the_same_time(wave):
    packed = [b""] * 4
    def work(i):
        packed[i] = taut.compress(wave + i, "abs:1e-3")
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert np.abs(taut.decompress(packed[i]) - (wave + i)).max() <= 1e-3


def test_no_mpi_is_loaded_by_the_package():
    code = "import sys, taut; assert 'mpi4py' not in sys.modules; print(open('/proc/self/maps').read().count('libmpi'))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "0"


def test_it_is_typed():
    folder = Path(taut.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()
    assert set(taut.__all__) <= set(dir(taut)) | {"AVG", "Bounds", "Comm", "Request", "bounds"}


def test_docstrings():
    tried = 0
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    for name in set(taut.__all__) - {"AVG", "Comm", "Request"}:
        for test in doctest.DocTestFinder().find(getattr(taut, name), name, module=False, globs=dict(vars(taut))):
            tried += runner.run(test).attempted
    assert runner.summarize().failed == 0 and tried > 10
