"""Results of the measurement, as text."""

from typing import Any


def bytes_text(bytes: int) -> str:
    for unit, scale in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if bytes >= 1 << scale:
            return f"{bytes / (1 << scale):.3g} {unit}"
    return f"{bytes} B"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}"


def ratio(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def line(row: dict[str, Any]) -> str:
    coded = "".join(f"{milliseconds(one['seconds']):>10} at {ratio(one['ratio']):<4}" for one in row["coded"])
    pays = f"from {ratio(row['pays_from'])}" if row["pays_from"] else "at none of these"
    return f"{row['call']:<10}{bytes_text(row['bytes']):>9}{milliseconds(row['plain']):>9}{coded}   {pays}"


def conclusions(result: dict[str, Any]) -> list[str]:
    found = []
    link = result["link_bytes_a_second"]
    if link:
        rate = f"{link * 8e-6:.0f}mbit"
        found.append(f"A rank's link carries {link / 1e9:.3g} GB/s: taut advise REPORT --link {rate}")
        found.append(f"One call by ratio and threads: taut advise --calc FILE --link {rate}")
    paying = {call: least for call, least in result["pays_from_bytes"].items() if least}
    typical = ratio(result["typical_ratio"])
    for call, least in paying.items():
        found.append(f"{call}: values that shrink {typical} times gain from {bytes_text(least)} on")
    if not paying:
        found.append(f"At a ratio of {typical} no call gains here: memory is as fast as coding. Where nodes are joined by a network, start")
        found.append("this on several of them. (Calls that do not gain are left to plain MPI by themselves.)")
    return found


def show(result: dict[str, Any]) -> None:
    print(f"{result['ranks']} ranks, {result['mpi']}, Taut {result['taut']}; milliseconds, medians")
    print(f"{'call':<10}{'bytes':>9}{'plain':>9}   by frames at ratios, and the ratio from which on they pay")
    for row in result["rows"]:
        print(line(row))
    print(*conclusions(result), sep="\n")
