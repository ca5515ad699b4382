"""Measures how errors of sums are distributed: real fields in P parts, one for each rank, coded and added.

  distribution.py FIELDS [--ranks 16] [--codecs planes,zfp]

FIELDS: folder of raw .f32 files. Prints a line of Markdown for each field: the share of
the sums that are within E, where each rank is coded within e = E sqrt(3/P)/2 (on=likely), and within 2/3
sqrt(P) e (C-Coll, theorem 1, for normal errors).

With --codecs planes,zfp a line for each field and codec follows: the errors of one coding (spread over e, share within one
spread, excess of the kurtosis: 68.3 % and 0 for normal errors, 57.7 % and -1.2 for uniform ones), the spread of a second
coding's change over that of the first error, and the variances of means, maxima and minima over P parts, in units of that of
one coding (corollary 2: 1/P; theorem 2: 2 - (P + 2)/2^P).
"""
import argparse
from pathlib import Path

import numpy as np
import taut


def decoded(values, bound, codec="planes"):
    """Encodes values under abs:bound and returns the decoded values."""
    return taut.decompress(taut.compress(np.ascontiguousarray(values), f"abs:{bound!r},codec={codec}"))


def errors_of_sum(field, ranks, e):
    """Returns the errors of the sum of `ranks` parts of the field, in units of e. Sums of frames add
    integers, so the errors of the parts add up."""
    return sum((decoded(part, e).astype(np.float64) - part) / e for part in parts_of(field, ranks))


def parts_of(field, ranks):
    return field[:field.size // ranks * ranks].reshape(ranks, -1)


def moments(field, ranks, e, codec):
    """Returns the figures of one coding, of a second one, and of means, maxima and minima; see the head of this file."""
    parts = parts_of(field, ranks).astype(np.float64)
    coded = np.stack([decoded(part, e, codec) for part in parts_of(field, ranks)])
    error = coded - parts
    sigma = np.std(error)
    again = np.stack([decoded(part, e, codec) for part in coded])
    of_means, of_maxima, of_minima = (np.var(by(coded.astype(np.float64), axis=0) - by(parts, axis=0)) for by in (np.mean, np.max, np.min))
    return {
        "spread": sigma / e, "within_spread": np.mean(np.abs(error - error.mean()) <= sigma),
        "excess": np.mean((error - error.mean()) ** 4) / sigma ** 4 - 3, "second": np.std(again - coded.astype(np.float64)) / sigma,
        "mean": ranks * of_means / sigma ** 2, "maximum": of_maxima / sigma ** 2, "minimum": of_minima / sigma ** 2,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fields", type=Path)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--codecs", default="", help="names, separated by commas")
    options = parser.parse_args()
    lines = []
    for path in sorted(options.fields.glob("*.f32")):
        field = np.fromfile(path, "<f4")
        usual = field[np.isfinite(field) & (np.abs(field) < 1e19)]  # exact values have no error
        e = float(np.float32((usual.max() - usual.min()) * 1e-4))
        error = errors_of_sum(usual, options.ranks, e)
        likely = np.mean(np.abs(error) <= 2 * np.sqrt(options.ranks / 3))
        normal = np.mean(np.abs(error) <= 2 / 3 * np.sqrt(options.ranks))
        print(f"| {path.stem} | {100 * likely:.1f} % | {100 * normal:.1f} % | {np.std(error) / np.sqrt(options.ranks / 3):.2f} |")
        for codec in filter(None, options.codecs.split(",")):
            found = moments(usual, options.ranks, e, codec)
            lines.append("| {} | {} | {spread:.2f} | {within_spread:.1%} | {excess:.2f} | {second:.2f} | {mean:.2f} | {maximum:.2f} | {minimum:.2f} |".format(path.stem, codec, **found))
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
