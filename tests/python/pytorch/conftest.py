"""Runs all tests on each rank of a process group. A test that fails on one rank fails on all, so that the ranks stay together.

TESTED_BACKEND names the backend of the group (gloo; or taut), TESTED_DEVICE the device of the tensors (cpu).
"""

import os
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist

import taut.torch  # noqa: F401, registers the backend

BACKEND = os.environ.get("TESTED_BACKEND", "gloo")
torch.set_default_device(os.environ.get("TESTED_DEVICE", "cpu"))
if BACKEND != "gloo" and torch.cuda.device_count() < int(os.environ["WORLD_SIZE"]):
    # NCCL refuses two ranks on a GPU of one host, so each rank claims a host of its own.
    os.environ["NCCL_HOSTID"] = f"rank{os.environ['RANK']}"
dist.init_process_group(BACKEND, timeout=timedelta(seconds=60))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "call":
        failed = torch.tensor([int(report.failed)])
        dist.all_reduce(failed)
        if failed.item() and report.passed:
            report.outcome, report.longrepr = "failed", "failed on another rank"


def pytest_sessionfinish():
    dist.destroy_process_group()


@pytest.fixture
def rank():
    return dist.get_rank()


@pytest.fixture
def ranks():
    return dist.get_world_size()
