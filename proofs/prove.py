#!/usr/bin/env python3
"""Proves the certificates, and shows that each of their mutations fails (SOUNDNESS.md). Usage: prove.py [PART|NAME...]

Parts: bounds (Gappa), coq, bits (z3), models (spin), readers (angr). A name is the beginning of a certificate's.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import bits_checks
import bounds_checks
import model_checks
import quotations
import reader_checks
from check import Verdict, spent

# In the order in which they are begun: the part with the longest checks comes first.
PARTS = {
    "readers": reader_checks.checks,
    "models": model_checks.checks,
    "bits": bits_checks.checks,
    "coq": bounds_checks.coq_checks,
    "bounds": bounds_checks.checks,
}


def wanted(check, words):
    return not words or any(check.part == word or check.name.startswith(word) for word in words)


@dataclass
class Judgement:
    """A check's verdict, and what is wrong with it. A mutation has to be refuted: an error or a limit is a fault."""

    verdict: Verdict
    fault: str
    seconds: float  # of processor time


def judged(check):
    spent.seconds = 0.0
    verdict, note = check.run()
    expected = Verdict.proven if check.provable else Verdict.refuted
    fault = "" if verdict == expected else f"{check.part} {check.name}: {verdict.name}, not {expected.name}: {note}"
    return Judgement(verdict, fault, spent.seconds)


def tell(part, judgements):
    """Prints the outcome of a part's checks, given as (check, future judgement). Returns (faults, seconds)."""
    found = [(check, future.result()) for check, future in judgements]
    for check, judgement in found:
        if judgement.fault:
            print(judgement.fault, flush=True)
        elif judgement.seconds > 20:
            print(f"  {part} {check.name}: {judgement.seconds:.0f} s", flush=True)
    good = [judgement.verdict for _, judgement in found if not judgement.fault]
    seconds = sum(judgement.seconds for _, judgement in found)
    print(
        f"{part}: {good.count(Verdict.proven)} certificates proven, {good.count(Verdict.refuted)} mutations refuted, "
        f"{seconds:.0f} s of processor time",
        flush=True,
    )
    return len(found) - len(good), seconds


def main(words):
    if quotations.main(quotations.FOLDER.parent) != 0:
        return 1
    checks = {part: [check for check in checks_of() if wanted(check, words)] for part, checks_of in PARTS.items()}
    count = sum(map(len, checks.values()))
    if count == 0:
        print(f"no certificate is named {' '.join(words)}; parts: {' '.join(PARTS)}", file=sys.stderr)
        return 2
    begin = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        started = {part: [(check, pool.submit(judged, check)) for check in of_part] for part, of_part in checks.items() if of_part}
        told = [tell(part, judgements) for part, judgements in started.items()]
    faults, seconds = sum(fault for fault, _ in told), sum(seconds for _, seconds in told)
    print(f"{count - faults} passed, {faults} failed; {seconds:.0f} s of processor time, {time.monotonic() - begin:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
