"""Trains by the modes of bench/training/train.py, in short: runs that continue from a checkpoint, shards, bfloat16 with masters."""

import sys
from argparse import Namespace
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[3] / "bench" / folder) for folder in ("training", ".")]
import train  # noqa: E402


def trained(**modes):
    """Returns the rows of both variants by their names."""
    usual = {"small": True, "steps": 40, "variants": "plain,taut:0.25", "fsdp": False, "masters": False, "resume": 0, "width": 0, "seeds": 0}
    rows = list(train.measure("transformer", Namespace(**usual | modes), lambda: 0))
    assert all(row["replicas_equal"] for row in rows)
    return {row["variant"]: row for row in rows}


@pytest.mark.parametrize("masters", [False, True])
def test_a_resumed_run_is_the_uninterrupted_one(masters):
    whole, resumed = (trained(masters=masters, resume=step) for step in (0, 20))
    for variant, row in whole.items():
        assert resumed[variant]["losses"] == row["losses"]
        assert resumed[variant]["test_loss"] == row["test_loss"]


@pytest.mark.parametrize("masters", [False, True])
def test_shards_resume_and_learn(masters):
    whole, resumed = (trained(fsdp=True, masters=masters, resume=step) for step in (0, 20))
    assert resumed["plain"]["losses"] == whole["plain"]["losses"]
    for row in (whole["taut:0.25"], resumed["taut:0.25"]):  # the first pass after a resume is not compressed
        assert row["losses"] != whole["plain"]["losses"]
        assert row["test_loss"] < 1.05 * whole["plain"]["test_loss"]
