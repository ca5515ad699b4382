"""Tests of arrays that are compressed as what has changed since earlier ones."""

import contract
import ml_dtypes
import numpy as np
import pytest
import taut

SHAPE = (60, 130)
TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128, np.int16, np.uint64]
BOUNDS = ["abs:1e-3,codec=planes", "snap:1e-3,codec=planes", "pwrel:1e-3,codec=mpc", "lossless,codec=mpc", "rel:1e-4"]


def step(t, dtype=np.float32):
    """Returns a time step: smooth in time, rough in space."""
    i = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    values = 100 * np.sin(12.9898 * i) + t * np.cos(3 * i)
    return (values * (1 + 0.5j) if np.issubdtype(dtype, np.complexfloating) else values).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("bound", BOUNDS)
def test_values_do_not_depend_on_references(dtype, bound):
    new, newest, older = step(2, dtype), step(1, dtype), step(0, dtype)
    alone = taut.decompress(taut.compress(new, bound))
    for reference in (newest, (newest, older)):
        back = taut.decompress(taut.compress(new, bound, reference=reference), reference=reference)
        contract.check(new, back, bound.partition(",")[0])
        if "codec=" in bound:
            assert back.tobytes() == alone.tobytes()


def test_references_save_bytes():
    alone, one, two = (
        len(taut.compress(step(2), "abs:1e-3", reference=reference)) for reference in (None, step(1), (step(1), step(0)))
    )
    assert one < 0.8 * alone
    assert two < 0.5 * one


@pytest.mark.parametrize("bound", ["lossless", "abs:1e-3"])
def test_needless_references_cost_nothing(bound):
    rows = np.cumsum(np.random.default_rng(1).normal(size=(6, 64, 64)), axis=0).astype(np.float32)
    unlike = np.random.default_rng(2).normal(size=rows.shape).astype(np.float32)
    assert len(taut.compress(rows, bound, reference=unlike)) == len(taut.compress(rows, bound))


def test_weights_of_which_few_change():
    weights = np.random.default_rng(1).normal(size=100_000).astype(ml_dtypes.bfloat16)
    after = weights.copy()
    after.view(np.uint16)[::100] += 1
    packed = taut.compress(after, reference=weights)
    assert len(packed) < after.nbytes / 10
    assert taut.decompress(packed, reference=weights).tobytes() == after.tobytes()


def test_orders_and_copies(tmp_path):
    for order in "CF":
        new, old = np.asarray(step(1), order=order), step(0)
        for reference in (old, np.asfortranarray(old), np.repeat(old, 2, axis=0)[::2]):
            packed = taut.compress(new, "abs:1e-3", reference=reference)
            out = np.empty_like(new)
            assert taut.decompress(packed, out, old) is out
            contract.check(new, out, "abs:1e-3")


def test_many_frames():
    old = np.random.default_rng(1).integers(0, 1000, (5, 1500, 1000)).astype(np.uint16)
    new = old.copy()
    new[::2, ::300, ::100] += 1
    packed = taut.compress(new, reference=old)
    about = taut.info(packed)
    assert about.frames > 1
    assert about.references == 1
    assert about.ratio > 20
    assert np.array_equal(taut.decompress(packed, reference=old), new)


def test_special_values():
    new, old = step(1), step(0)
    new[3, :9] = [np.nan, np.inf, -np.inf, -0.0, 1e30, 1e-42, 0, 5e6, -5e6]
    old[3, 4:20] = [np.nan, np.inf, -np.inf, -0.0, 1e30, -1e30, 1e-42, 0, *range(8)]
    for bound in ("abs:1e-3,codec=planes", "lossless,codec=mpc"):
        back = taut.decompress(taut.compress(new, bound, reference=old), reference=old)
        contract.check(new, back, bound.partition(",")[0])


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7, 0, 3)])
def test_small_arrays(shape):
    old, new = np.full(shape, 3.5), np.full(shape, 3.75)
    assert np.array_equal(taut.decompress(taut.compress(new, reference=old), reference=old), new)


def test_wrong_references_are_refused():
    new, old = step(1), step(0)
    packed = taut.compress(new, "abs:1e-3", reference=old)
    with pytest.raises(taut.ArgumentError, match="refers to one array; give what compress had, with reference="):
        taut.decompress(packed)
    with pytest.raises(taut.ArgumentError, match="refers to one array"):
        taut.decompress(packed, reference=(old, old))
    with pytest.raises(taut.ArgumentError, match="refers to no other array; leave reference= out"):
        taut.decompress(taut.compress(new, "abs:1e-3"), reference=old)
    with pytest.raises(taut.ArgumentError, match=r"is of shape \(130, 60\).*give an array of shape \(60, 130\)"):
        taut.decompress(packed, reference=old.T)
    with pytest.raises(taut.ArgumentError, match="type float64; give .* type float32"):
        taut.compress(new, "abs:1e-3", reference=old.astype(np.float64))
    for none in ((), (old, old, old)):
        with pytest.raises(taut.ArgumentError, match=f"has {len(none)} arrays; give one, or two"):
            taut.compress(new, "abs:1e-3", reference=none)
    with pytest.raises(taut.DTypeError, match="is no array"):
        taut.compress(new, "abs:1e-3", reference=3.0)
    other = old.copy()
    other.view(np.uint32)[59, 129] ^= 1
    with pytest.raises(taut.FrameError, match="reference"):
        taut.decompress(packed, reference=other)


def test_calls_on_frames_alone_refuse_references():
    packed = taut.compress(step(1), "abs:1e-3,codec=planes", reference=step(0))
    with pytest.raises(taut.FrameError):
        taut.statistics(packed)
    with pytest.raises(taut.FrameError):
        taut.scale(packed, 2)


def test_a_damaged_header_is_found():
    packed = bytearray(taut.compress(step(1), "abs:1e-3", reference=step(0)))
    for at in range(28):
        broken = packed.copy()
        broken[at] ^= 1
        with pytest.raises(taut.FrameError):
            taut.info(broken)


def test_the_program_reads_it_and_it_reads_what_the_program_wrote(tmp_path, taut_program):
    new, old = step(1), step(0)
    np.save(tmp_path / "old.npy", old)
    np.save(tmp_path / "new.npy", new)
    packed = taut.compress(new, "rel:1e-4", reference=old)
    (tmp_path / "new.taut").write_bytes(packed)
    taut_program("decompress", tmp_path / "new.taut", "--reference", tmp_path / "old.npy", "-o", tmp_path / "back.npy")
    assert np.array_equal(np.load(tmp_path / "back.npy"), taut.decompress(packed, reference=old))
    taut_program("compress", tmp_path / "new.npy", "--reference", tmp_path / "old.npy", "--bound", "rel:1e-4",
                 "-o", tmp_path / "two.taut")  # fmt: skip
    assert (tmp_path / "two.taut").read_bytes() == packed
