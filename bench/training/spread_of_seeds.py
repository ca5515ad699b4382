"""Losses and bytes of runs that differ in their seed alone."""

import statistics

import torch

CURVE = 25  # steps in a part of the loss curve


def over_seeds(tests, sent, losses):
    """Returns columns of a row: held-out losses, bytes sent in a step, and the mean of the training losses in each part of a run; means
    over the runs, and deviations."""
    parts = torch.tensor([[float(part.mean()) for part in torch.tensor(run).split(CURVE)] for run in losses])
    bands = parts.std(0) if len(losses) > 1 else torch.zeros(parts.shape[1])
    return {
        "test_losses": [round(test, 4) for test in tests], "test_loss": round(statistics.fmean(tests), 4),
        "deviation": round(statistics.stdev(tests), 4) if len(tests) > 1 else 0.0,
        "sent_bytes_per_step": round(statistics.fmean(sent)), "losses": [round(loss, 3) for loss in parts.mean(0).tolist()],
        "losses_deviations": [round(band, 3) for band in bands.tolist()],
    }  # fmt: skip


def over_times(seconds):
    """Returns columns of a row, given the seconds of each step of each run: time of a step, and the time at which each part of the loss
    curve ends. A step has the median of its times in the runs, which other programs on the machine disturb less than their mean."""
    steps = torch.tensor(seconds).median(0).values
    ends = [round(end, 2) for end in torch.stack([part.sum() for part in steps.split(CURVE)]).cumsum(0).tolist()]
    quartiles = torch.quantile(torch.tensor(seconds)[:, CURVE:].flatten(), torch.tensor([0.25, 0.5, 0.75])).tolist()
    least, median, most = (round(1e3 * quartile, 1) for quartile in quartiles)
    return {"median_step_ms": median, "quartiles_ms": [least, most], "losses_seconds": ends}
