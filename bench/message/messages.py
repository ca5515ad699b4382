"""Measures messages of floats between two ranks, by plain MPI and by Taut in alternation (`make bench-messages`), in shared memory
or over a link, for which emulated hosts are made (needs root).

--rows steps compares a message with its steps: encoding, wire, decoding.
"""

from suite import RELEASE, Suite, launcher, lines_of, on_ranks

OPTIONS = {"policy": ("abs:1e-3", "of Taut"), "data": ("smooth", "or random"), "rows": ("ping_pong", "or steps"), "sizes": ("8:16M", "bytes"),
           "seconds": (0.5, "for each size")}  # fmt: skip


def measured(options):
    build, asked = options.builds[0], {name: getattr(options, name) for name in OPTIONS}
    options.settings |= asked | {"link": options.link}
    words = [word for name, value in asked.items() for word in (f"--{name}", value)]
    return lines_of([*on_ranks(launcher(build), 2, options.link), build / "bench/message/taut_bench_messages", *words])


SUITE = Suite(
    about=__doc__, rows=measured, needs="bench", builds={"release": f"taut_bench_messages {RELEASE}"}, quick={"seconds": 0.02},
    options=OPTIONS | {"link": ("", "rate of the link; none: shared memory")},
    columns={"bytes": "{bytes}", "MPI, us": "{mpi_us:.3f}", "Taut, no policy": "{no_policy_us:.3f}", "Taut": "{taut_us:.3f}",
             "Taut / MPI": "{over_mpi:.3f}", "encoding, us": "{encode_us:.2f}", "wire": "{wire_us:.2f}", "decoding": "{decode_us:.2f}",
             "message": "{message_us:.2f}", "samples": "{samples}"},
)  # fmt: skip
