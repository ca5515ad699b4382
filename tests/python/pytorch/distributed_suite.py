"""Runs the tests of torch.distributed that come with PyTorch, those that gloo passes, over the backend `taut`, on 4 ranks:
distributed_suite.py [TestBackend.TEST ...].

Rules code every call that can be coded, of any size, without loss. PyTorch's tests add whole numbers, so that the order of
additions does not matter. TESTED_BACKEND=gloo shows what gloo itself passes.
"""

import multiprocessing
import os
import tempfile
import unittest

os.environ.setdefault("WORLD_SIZE", "4")
os.environ.setdefault("TEMP_DIR", tempfile.mkdtemp())
os.environ.setdefault("INIT_METHOD", f"file://{os.environ['TEMP_DIR']}/store")
os.environ.setdefault("TAUT_RULES", "* >=1 : lossless,codec=mpc")
os.environ["BACKEND"] = "gloo"  # by which PyTorch chooses what it tests

import torch.distributed as dist
import torch.testing._internal.distributed.distributed_test as suite

import taut.torch  # noqa: F401, registers the backend

BACKEND = os.environ.get("TESTED_BACKEND", "taut")

# Tests that are left out, by the beginnings of their names.
LEFT_OUT = {
    "test_send_recv_any_source": "a rule codes Send, whose receiver has to name the sender",
    "test_ddp_logging_data_cpu": "asks for the name that init_process_group got",
    "test_get_backend": "asks for the name that init_process_group got",
    "test_monitored_barrier": "PyTorch's monitored_barrier wants the backend gloo by name",
}


init_process_group = dist.init_process_group


def init_with_backend(backend=None, **options):
    init_process_group(BACKEND, **options)


dist.init_process_group = init_with_backend


class TestBackend(suite.TestDistBackend, suite.DistributedTest._DistTestBase):
    def setUp(self):
        reasons = [why for name, why in LEFT_OUT.items() if self._testMethodName.startswith(name)]
        if reasons and BACKEND == "taut":
            self.skipTest(reasons[0])
        super().setUp()
        self._start_processes(multiprocessing.get_context("fork").Process)


if __name__ == "__main__":
    unittest.main()
