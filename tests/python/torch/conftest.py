"""Runs all tests on each rank of a gloo group. A test that fails on one rank fails on all, so that the ranks stay together."""

from datetime import timedelta

import pytest
import torch
import torch.distributed as dist

dist.init_process_group("gloo", timeout=timedelta(seconds=60))


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
