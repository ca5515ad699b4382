"""Fixtures for all tests of the Python package."""

import os
import subprocess

import libraries
import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("taut", deadline=None, max_examples=60, derandomize=True)  # the same in every run
settings.load_profile("taut")


@pytest.fixture
def wave():
    """Returns a smooth field that compresses well."""
    x = np.linspace(0, 20, 300, dtype=np.float32)
    return np.sin(x)[:, None] * np.cos(x)[None, :]


@pytest.fixture
def taut_program():
    """Returns a function that runs the program `taut` with its arguments."""

    def run(*arguments):
        subprocess.run([os.environ["TESTED_PROGRAM"], *map(str, arguments)], check=True, capture_output=True)

    return run


@pytest.fixture(scope="module", params=libraries.NAMES)
def library(request):
    """Returns the name of each library that can make arrays on a GPU here."""
    reason = libraries.reason_against(request.param)
    if reason:
        pytest.skip(reason)
    return request.param
