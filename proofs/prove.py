#!/usr/bin/env python3
"""Proves the certificates, and shows that each of their mutations fails (SOUNDNESS.md). Usage: prove.py [PART|NAME...]

Parts: bounds (Gappa), coq, bits (z3), models (spin). A name is the beginning of a certificate's.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import bits_checks
import bounds_checks
import model_checks
import quotations
from check import Verdict

PARTS = {
    "bounds": bounds_checks.checks,
    "coq": bounds_checks.coq_checks,
    "bits": bits_checks.checks,
    "models": model_checks.checks,
}


def wanted(check, words):
    return not words or any(check.part == word or check.name.startswith(word) for word in words)


def judged(check):
    """Runs a check and returns (fault, verdict, seconds). A mutation has to be refuted: an error or a limit is a fault."""
    begin = time.monotonic()
    verdict, note = check.run()
    expected = Verdict.proven if check.provable else Verdict.refuted
    fault = "" if verdict == expected else f"{check.part} {check.name}: {verdict.name}, not {expected.name}: {note}"
    return fault, verdict, time.monotonic() - begin


def main(words):
    if quotations.main(quotations.FOLDER.parent) != 0:
        return 1
    checks = [check for part in PARTS.values() for check in part() if wanted(check, words)]
    if not checks:
        print(f"no certificate is named {' '.join(words)}; parts: {' '.join(PARTS)}", file=sys.stderr)
        return 2
    faults = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for part in PARTS:
            of_part = [check for check in checks if check.part == part]
            begin, proven, refuted = time.monotonic(), 0, 0
            for check, (fault, verdict, seconds) in zip(of_part, pool.map(judged, of_part)):
                if fault:
                    faults += 1
                    print(fault, flush=True)
                elif seconds > 20:
                    print(f"  {part} {check.name}: {seconds:.0f} s", flush=True)
                proven += verdict == Verdict.proven and not fault
                refuted += verdict == Verdict.refuted and not fault
            if of_part:
                took = time.monotonic() - begin
                print(f"{part}: {proven} certificates proven, {refuted} mutations refuted, {took:.0f} s", flush=True)
    print(f"{len(checks) - faults} passed, {faults} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
