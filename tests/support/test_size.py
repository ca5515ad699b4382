"""How many cases a long test tries, as in test_size.hpp."""

import os

ONE_CASE_IN = max(1, int(os.environ.get("TEST_ONE_IN", "1")))
SAMPLE = int(os.environ.get("TEST_SAMPLE", "0")) % ONE_CASE_IN
_cases = 0


def is_sampled():
    """Returns True if the next case is in the sample. The samples that TEST_SAMPLE numbers from 0 on have all cases between
    them."""
    global _cases
    _cases += 1
    return (0x9E3779B97F4A7C15 * (_cases - 1) % 2**64) * ONE_CASE_IN >> 64 == SAMPLE
