"""Prediction by interpolation between points of a coarser grid, level after level, in the manner of SZ3. Residuals
are multiples of the step; the decoded values are linear in them, so residuals of two fields could be added."""

import itertools

import numpy


def _grid(shape, axes, level, axis, stride):
    """Returns the indices of the points that a pass along one axis predicts."""
    ranges = [numpy.arange(n) for n in shape]
    for at, other in enumerate(axes):
        known = stride if at < level else 2 * stride
        ranges[other] = numpy.arange(0, shape[other], known)
    ranges[axis] = numpy.arange(stride, shape[axis], 2 * stride)
    return ranges


def _prediction(known, ranges, axis, stride, cubic):
    n, places = known.shape[axis], ranges[axis]

    def at(offset):
        moved = list(ranges)
        moved[axis] = numpy.clip(places + offset * stride, 0, n - 1)
        return known[numpy.ix_(*moved)]

    shape = [1] * known.ndim
    shape[axis] = len(places)
    inside = (places + stride < n).reshape(shape)
    predicted = numpy.where(inside, (at(-1) + at(1)) / 2, at(-1))
    if cubic:
        wide = ((places + 3 * stride < n) & (places >= 3 * stride)).reshape(shape)
        if wide.any():
            smooth = (9 * (at(-1) + at(1)) - at(-3) - at(3)) / 16
            predicted = numpy.where(wide, smooth, predicted)
    return predicted


def interpolation_residuals(values, step, axes, cubic):
    """Returns the residuals, coarse levels first; along axes that are not named, all points are independent."""
    values = values.astype("f8")
    known, residuals = numpy.zeros_like(values), []

    def code(ranges, predicted):
        there = numpy.ix_(*ranges)
        r = numpy.rint((values[there] - predicted) / step)
        known[there] = predicted + r * step
        residuals.append(r.astype(numpy.int32).reshape(-1))

    longest = max(values.shape[axis] for axis in axes)
    first = [numpy.arange(1) if i in axes else numpy.arange(n) for i, n in enumerate(values.shape)]
    code(first, 0.0)
    stride = 1 << max(longest - 1, 1).bit_length()
    while stride > 1:
        stride //= 2
        for level, axis in enumerate(axes):
            ranges = _grid(values.shape, axes, level, axis, stride)
            if all(len(r) > 0 for r in ranges):
                code(ranges, _prediction(known, ranges, axis, stride, cubic))
    assert numpy.abs(known - values).max() <= step * 0.5000001
    return numpy.concatenate(residuals)


def tiles(values, extents):
    """Returns the field cut into tiles over its last axes, filled up at the edges: one tile after the other."""
    n = len(extents)
    values = values.reshape((-1,) + values.shape[-n:])
    fill = [(0, 0)] + [(0, -size % extent) for size, extent in zip(values.shape[1:], extents)]
    values = numpy.pad(values, fill, "edge")
    shape = [len(values)] + list(itertools.chain(*((size // e, e) for size, e in zip(values.shape[1:], extents))))
    order = [0] + [1 + 2 * i for i in range(n)] + [2 + 2 * i for i in range(n)]
    return values.reshape(shape).transpose(order).reshape((-1,) + tuple(extents))
