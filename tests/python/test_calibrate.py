"""Tests the conclusions of `taut calibrate` from known times, and its arguments. tests/python/mpi tests the
measurement."""

import argparse

import pytest
from taut import calibrate
from taut.calibrate._judge import Coded, Row, carried, link, pays_from_bytes, summary
from taut.calibrate._table import bytes_text, conclusions


def row(bytes, plain, *coded, call="bcast"):
    return Row(call, bytes, plain, tuple(Coded(*one) for one in coded))


def test_frames_pay_from_the_ratio_at_which_times_meet():
    # seconds = 1 + 8 / ratio, which is linear in 1 / ratio: 3 at a ratio of 4
    assert row(1, 3, (2, 5), (8, 2), (100, 1.08)).pays_from() == pytest.approx(4)
    assert row(1, 6, (2, 5), (8, 2)).pays_from() == 2  # lower ratios were not measured
    assert row(1, 1, (2, 5), (8, 2)).pays_from() is None


def test_a_size_pays_if_all_larger_ones_do():
    pays, does_not = ((2, 5), (8, 2)), ((2, 5), (8, 4))
    rows = [row(1, 3, *pays), row(2, 3, *does_not), row(4, 3, *pays), row(8, 3, *pays)]
    assert pays_from_bytes(rows, 8) == 4
    assert pays_from_bytes(rows, 2) is None
    assert pays_from_bytes(rows[:2], 8) is None


def test_the_link_is_that_of_the_fastest_large_call():
    assert carried("allreduce", 4) == 1.5 and carried("alltoall", 4) == 0.75
    rows = [row(1 << 20, 0.01), row(4 << 20, 0.02), row(1 << 10, 1e-9)]
    assert link(rows, 2) == pytest.approx((4 << 20) / 0.02)
    assert link(rows[2:], 2) is None


def test_what_it_concludes_is_said():
    gains = summary([row(1 << 22, 0.04, (2, 0.03), (8, 0.01))], 2)
    assert conclusions(gains) == ["A rank's link carries 0.105 GB/s: taut advise REPORT --link 839mbit",
                                  "One call by ratio and threads: taut advise --calc FILE --link 839mbit",
                                  "bcast: values that shrink 8 times gain from 4 MiB on"]  # fmt: skip
    assert "no call gains" in conclusions(summary([row(1 << 22, 0.001, (8, 0.01))], 2))[2]
    assert [bytes_text(n) for n in (512, 65536, 3 << 20, 1 << 30)] == ["512 B", "64 KiB", "3 MiB", "1 GiB"]


def test_sizes_and_calls_that_users_type():
    assert [calibrate.size(text) for text in ("4096", "64K", "16m", "1G")] == [4096, 1 << 16, 1 << 24, 1 << 30]
    assert calibrate.calls("Bcast,alltoall") == ["bcast", "alltoall"]
    for fault in ("", "K", "1.5M", "-64K", "16", "8G"):
        with pytest.raises(argparse.ArgumentTypeError, match="64K or 16M"):
            calibrate.size(fault)
    with pytest.raises(argparse.ArgumentTypeError, match="allreduce,bcast"):
        calibrate.calls("barrier")
