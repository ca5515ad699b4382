"""The spread of measured times, and when a difference between two of them counts."""

import statistics

MOST_LOSS = 1.03  # a difference of 3 % is not worth a word


def quartiles(times):
    """Returns the lower and the upper quartile."""
    ordered = sorted(times)
    return ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]


def exceeds(slow, fast):
    """Returns true if `slow` has a median above that of `fast` by more than 3 %. Both are lists of times."""
    return statistics.median(slow) > MOST_LOSS * statistics.median(fast)


def beyond_noise(slow, fast):
    """Returns true if the middle half of `slow` lies above that of `fast`: their quartiles do not overlap."""
    return quartiles(slow)[0] > quartiles(fast)[1]
