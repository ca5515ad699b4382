"""Losses and bytes of runs that differ in their seed alone."""

import statistics

import torch

CURVE = 25  # steps, whose losses are averaged


def over_seeds(tests, sent, losses):
    """Returns columns of a row: held-out losses, their mean and deviation, bytes sent in a step, training losses averaged over the runs."""
    curve = torch.tensor(losses).mean(0).split(CURVE)
    return {
        "test_losses": [round(test, 4) for test in tests], "test_loss": round(statistics.fmean(tests), 4),
        "deviation": round(statistics.stdev(tests), 4) if len(tests) > 1 else 0.0,
        "sent_bytes_per_step": round(statistics.fmean(sent)), "losses": [round(float(part.mean()), 3) for part in curve],
    }  # fmt: skip
