"""Tests of the serialisers of Dask: on connections described by their addresses, and on a cluster of this machine."""

import subprocess
import sys

import contract
import numpy as np
import pytest
import taut

pytest.importorskip("distributed")
import dask  # noqa: E402
import taut.dask as taut_dask  # noqa: E402
from distributed.protocol import deserialize, serialize  # noqa: E402

LOCAL = {"sender": {"address": "tcp://10.0.0.1:8000"}, "recipient": {"address": "tcp://10.0.0.1:8001"}}
REMOTE = {"sender": {"address": "tcp://10.0.0.1:8000"}, "recipient": {"address": "tcp://10.0.0.2:8000"}}
THREADS = {"sender": {"address": "inproc://10.0.0.1/1/2"}, "recipient": {"address": "inproc://10.0.0.2/1/3"}}


@pytest.fixture(autouse=True)
def lossless():
    taut_dask.enable()


def sent(array, context=REMOTE):
    """Returns what arrives of an array, and the number of bytes on the way."""
    header, frames = serialize(array, context=context, on_error="raise")
    frames = [bytes(frame) for frame in frames]
    return deserialize(header, frames), sum(map(len, frames))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_lossless_is_the_default(wave, dtype, order):
    values = np.asarray(100 * wave, dtype, order=order)
    back, size = sent(values)
    contract.check(values, back, "lossless")
    assert size < 0.95 * values.nbytes and back.flags.writeable and back.strides == values.strides


def test_a_bound(wave):
    taut_dask.enable("abs:1e-3")
    back, size = sent(wave)
    contract.check(wave, back, "abs:1e-3")
    assert size < wave.nbytes / 3
    back, _ = sent(wave[::2, ::-1])
    contract.check(wave[::2, ::-1], back, "abs:1e-3")


@pytest.mark.parametrize("context", [LOCAL, THREADS, None, {}, {"sender": {}, "recipient": {}}])
def test_what_stays_on_a_host_is_left_alone(wave, context):
    taut_dask.enable("abs:1e-3")
    back, size = sent(wave, context)
    assert size == wave.nbytes and np.array_equal(back, wave)


def test_what_is_sent_compressed_is_counted(wave):
    def of_one(context):
        before = taut_dask.statistics()
        size = sent(wave, context)[1]
        return {name: count - before[name] for name, count in taut_dask.statistics().items()}, size

    taut_dask.enable("abs:1e-3")
    counted, size = of_one(REMOTE)
    assert counted == {"arrays": 1, "value_bytes": wave.nbytes, "frame_bytes": size}
    assert of_one(LOCAL)[0] == {"arrays": 0, "value_bytes": 0, "frame_bytes": 0}


def test_what_does_not_pay_is_left_alone(wave):
    noise = np.frombuffer(np.random.default_rng(1).bytes(1 << 21), np.float64)
    for values in (noise, noise.reshape(512, 512)[:, ::2], wave[:10], np.broadcast_to(wave, (9, 300, 300)), wave.astype(">f4"), wave > 0):
        usual = serialize(values, context=LOCAL)
        coded = serialize(values, context=REMOTE)
        assert coded[0] == usual[0]
        np.testing.assert_array_equal(deserialize(*coded), values)
    taut_dask.enable("off")
    assert sent(wave)[1] == wave.nbytes


def test_other_objects_are_left_alone(wave):
    masked = np.ma.masked_array(wave, wave > 0.5)
    np.testing.assert_array_equal(sent(masked)[0].mask, masked.mask)
    assert sent({"a": wave, "b": 3})[0]["b"] == 3
    assert isinstance(sent(wave.view(np.matrix))[0], np.matrix)
    assert sent(np.array(["a", None] * 99999, object))[0][1] is None


def test_special_values(wave):
    taut_dask.enable("abs:1e-3")
    wave[3, 5:8] = [np.nan, np.inf, -np.inf]
    contract.check(wave, sent(wave)[0], "abs:1e-3")


def test_a_preload_takes_the_policy_of_dasks_configuration(wave):
    with dask.config.set({"taut.policy": "abs:1e-3"}):
        taut_dask.dask_setup(None)
    assert 0 < np.abs(sent(wave)[0] - wave).max() <= 1e-3


def test_bad_policies_and_damage(wave):
    with pytest.raises(taut.PolicyError, match="abs:1e-4"):
        taut_dask.enable("abs:-1")
    header, (frame,) = serialize(wave, context=REMOTE)
    with pytest.raises(taut.FrameError):
        deserialize(header, [bytes(frame)[:-1]])


def test_arrays_of_another_library(wave):
    """An array class with a way to make new arrays, as CuPy has it."""

    class Array:
        def __init__(self, values):
            self.values = values
            self.shape, self.dtype, self.strides, self.size, self.nbytes = values.shape, values.dtype, values.strides, values.size, values.nbytes
            self.flags, self.__array_interface__ = values.flags, values.__array_interface__

        def reshape(self, *shape, order):
            return Array(self.values.reshape(*shape, order=order))

        def __getitem__(self, at):
            return Array(self.values[at])

    from distributed.protocol import dask_deserialize, dask_serialize

    dask_serialize.register(Array, lambda array: ({}, [array.values.tobytes()]))
    dask_deserialize.register(Array, lambda header, frames: Array(np.frombuffer(frames[0], "f4")))
    taut_dask.register(Array, lambda shape, dtype, order: Array(np.empty(shape, dtype, order)))
    taut_dask.enable("abs:1e-3")
    back, size = sent(Array(wave))
    assert isinstance(back, Array) and size < wave.nbytes / 3
    contract.check(wave, back.values, "abs:1e-3")
    np.testing.assert_array_equal(sent(Array(wave), LOCAL)[0].values, wave.ravel())


CLUSTER = """
import dask.array as da, numpy as np, taut.dask, time
from distributed import Client, LocalCluster, wait
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        taut.dask.enable_on(client)
        assert list(taut.dask.enable_on(client, "abs:1e-3").values()) == ["abs:1e-3"] * 2
        client.run(lambda: setattr(taut.dask, "_leaves_host", lambda context: bool(context)))
        taut.dask._leaves_host = lambda context: bool(context)
        x = da.from_array(np.sin(np.linspace(0, 9, 1 << 20)).reshape(1024, 1024), chunks=256).persist()
        wait(x)
        y = (x + x.T).compute()
        exact = np.sin(np.linspace(0, 9, 1 << 20)).reshape(1024, 1024)
        error = abs(y - exact - exact.T).max()
        print("error", 0 < error <= 4e-3)
        told, until = [], time.monotonic() + 30  # the next heartbeat brings the counters
        while not all(one.get("taut MB", 0) > one.get("taut MB sent", 0) > 0 for one in told) or not told:
            assert time.monotonic() < until, told
            time.sleep(0.2)
            told = [one["metrics"] for one in client.scheduler_info()["workers"].values()]
        print("dashboard", all(one["taut arrays"] > 0 for one in told))
"""


def test_a_cluster(tmp_path):
    (tmp_path / "cluster.py").write_text(CLUSTER)
    done = subprocess.run([sys.executable, "cluster.py"], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert "error True" in done.stdout and "dashboard True" in done.stdout, done.stderr
