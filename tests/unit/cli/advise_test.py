"""taut advise: forecasts from reports made by hand, whose numbers are known."""

import copy
import json
import re
import unittest

from program import ProgramTest

RATIOS = {"rel:0.01": 32, "rel:0.001": 16, "rel:1e-04": 8, "rel:1e-05": 4, "rel:1e-06": 2, "lossless": 1.25}
MIB = 1 << 20


def samples(ratios):
    return {"samples": 1, "least": 0.0, "greatest": 1.0,
            "bounds": [{"bound": b, "value_bytes": 8000, "frame_bytes": int(8000 / r), "nanoseconds": 800} for b, r in ratios.items()]}


def kind(collective, type_name, op, least_bytes, seconds, ratios=RATIOS, calls=10):
    return {"collective": collective, "type": type_name, "operator": op, "least_bytes": least_bytes, "calls": calls,
            "plain_calls": {"off": calls}, "message_bytes": calls * least_bytes, "nanoseconds": {"plain": int(seconds * 1e9)},
            "compressibility": samples(ratios) if ratios else None}


def history(gain, period=1):
    bounds = [{"bound": b, "value_bytes": 8000, "alone_bytes": 1000, "referring_bytes": int(1000 / gain), "nanoseconds": 800} for b in RATIOS]
    return {"samples": 1, "period": period, "bounds": bounds}


def report(*kinds, ranks=4, rank=0):
    return {"format": "taut-report", "version": 2, "rank": rank, "ranks": ranks,
            "communicators": [{"ranks": ranks, "kinds": list(kinds)}]}


# 1 Gbit/s: 1.5 bytes pass the link for each of an allreduce on four ranks.
LARGE = kind("allreduce", "f32", "sum", 64 * MIB, 10 * 1.5 * 64 * MIB / 125e6)
SMALL = kind("allreduce", "f32", "sum", 8192, 10 * 40e-6)


class Advise(ProgramTest):
    def advise(self, *reports, arguments=()):
        for rank, one in enumerate(reports):
            self.file(f"r.json.{rank}", json.dumps(one).encode())
        return self.succeed("advise", "r.json", *arguments)

    def rules(self, printed):
        found = re.search(r'TAUT_RULES="(.*)"', printed)
        if found:
            self.succeed("config", "--rules", found.group(1))
        return found and found.group(1)

    def test_what_gains_gets_a_rule(self):
        printed = self.advise(report(LARGE, SMALL))
        self.assertIn("link 0.125 GB/s (as plain calls show)", printed)
        self.assertEqual(self.rules(printed), "Allreduce f32 sum >=64MiB : rel:1e-04 ; * : off")
        self.assertRegex(printed, r"allreduce f32 sum 64MiB +4 +10 +5.5")  # at 1e-4/4: between 8 and 4
        self.assertRegex(printed, r"allreduce f32 sum 8KiB .* would lose")

    def test_what_taut_does_not_serve_is_named(self):
        self.assertNotIn("not served", self.advise(report(LARGE)))
        printed = self.advise(report(LARGE) | {"unserved_calls": {"MPI_Put": 3}},
                              report(LARGE, rank=1) | {"unserved_calls": {"MPI_Put": 5, "MPI_Scan": 1}})
        self.assertIn("MPI_Put (5), MPI_Scan (1)", printed)

    def test_ranks_that_share_a_node(self):
        # 1 Gbit/s a node: from a node of four ranks half of 4 x 64 MiB leave it.
        moved = kind("alltoall", "f32", None, 64 * MIB, 10 * 0.5 * 4 * 64 * MIB / 125e6)
        reports = [report(moved, ranks=8, rank=rank) | {"node": f"n{rank // 4}"} for rank in range(8)]
        printed = self.advise(*reports)
        self.assertRegex(printed, r"link 0\.125 GB/s .*; 4 ranks a node")
        alone = self.advise(*(one | {"node": ""} for one in reports))
        self.assertNotIn("ranks a node", alone)
        full, flat = (self.advise(*reports, arguments=["--link", "100gbit", "--nodes", "16", "--ranks-per-node", n]) for n in ("32", "1"))
        gains = [float(re.search(r"(\S+)x", text.partition("gain\n")[2])[1]) for text in (full, flat)]
        self.assertGreater(gains[0], 2 * gains[1])
        self.assertIn("as if on 16 nodes; 32 ranks a node", full)
        self.refuse(2, "--ranks-per-node: the 8 ranks of the run do not fill such nodes", "advise", "r.json", "--ranks-per-node", "3")
        self.refuse(2, "--memory: 'much' is no rate", "advise", "r.json", "--memory", "much")

    def test_another_bound(self):
        self.assertIn("rel:0.01", self.rules(self.advise(report(LARGE), arguments=["--bound", "rel:1e-2"])))
        self.assertIsNone(self.rules(self.advise(report(LARGE), arguments=["--bound", "lossless"])))  # sums are MPI's
        moved = kind("alltoall", "f64", None, MIB, 10 * 0.75 * MIB / 125e6, RATIOS | {"lossless": 2})
        self.assertEqual(self.rules(self.advise(report(moved), arguments=["-b", "lossless"])), "Alltoall f64 >=1MiB : lossless ; * : off")

    def ratio(self, one, *arguments):
        """Returns the forecast ratio of the only kind of calls in the report."""
        return float(re.search(r" 10 +(\S+) ", self.advise(report(one), arguments=arguments))[1])

    def test_every_bound_of_a_run_is_taken(self):
        # The samples range from 0 to 1; a sum on four ranks leaves a quarter of the bound to each.
        for bound, ratio in (("abs:4e-2", 32), ("abs:4e-4", 8), ("snap:4e-4", 8), ("psnr:40", 22.4), ("abs:1e-4,on=input", 8)):
            with self.subTest(bound=bound):
                self.assertAlmostEqual(self.ratio(LARGE, "--bound", bound), ratio, delta=0.05)
        # 2^-10 of the least sampled bound: ten bits more than the 16 of its ratio of 2.
        self.assertAlmostEqual(self.ratio(LARGE, "--bound", f"rel:{4e-6 / 1024}"), 32 / 26, delta=0.01)
        printed = self.advise(report(LARGE), arguments=["--bound", "abs:4e-4,codec=planes"])
        self.assertEqual(self.rules(printed), "Allreduce f32 sum >=64MiB : abs:4e-04 codec=planes ; * : off")
        moved = kind("alltoall", "f64", None, MIB, 10 * 0.75 * MIB / 125e6, RATIOS | {"lossless": 2})
        self.assertEqual(self.ratio(moved, "--bound", "pwrel:1e-3"), 2)
        self.assertIn("forecast as without loss", self.advise(report(moved), arguments=["--bound", "pwrel:1e-3"]))

    def test_reports_of_a_killed_job(self):
        self.assertNotIn("while the program ran", self.advise(report(LARGE)))
        printed = self.advise(report(LARGE) | {"finished": True}, report(LARGE, rank=1) | {"finished": False})
        self.assertIn("1 reports were written while the program ran", printed)

    def test_integers_are_lossless_only(self):
        ints = kind("bcast", "i32", None, MIB, 1, {"lossless": 4})
        self.assertEqual(self.rules(self.advise(report(ints))), "Bcast i32 >=1MiB : lossless ; * : off")

    def test_packed_integers_lose_nothing(self):
        moved = kind("alltoall", "f64", None, MIB, 10 * 0.75 * MIB / 125e6, RATIOS | {"lossless": 2})
        packed = copy.deepcopy(moved)
        packed["compressibility"]["packed"] = 1
        self.assertIn("rel", self.rules(self.advise(report(moved))))
        printed = self.advise(report(packed))
        self.assertEqual(self.rules(printed), "Alltoall f64 >=1MiB : lossless ; * : off")
        self.assertIn("alltoall f64: values of some of these calls are integers packed bit by bit", printed)
        # Calls that no such rule serves are not concerned.
        self.assertIn("Allreduce f32 sum >=64MiB : rel", self.rules(self.advise(report(packed, LARGE))))
        hard = packed | {"compressibility": samples(dict.fromkeys(RATIOS, 1.1)) | {"packed": 1}}
        self.assertIsNone(self.rules(self.advise(report(hard))))
        # Another size, another rank: one rule would be for all of them.
        larger = kind("alltoall", "f64", None, 4 * MIB, 10 * 0.75 * 4 * MIB / 125e6, RATIOS | {"lossless": 2})
        for reports in ([report(larger, packed)], [report(larger, moved), report(larger, packed, rank=1)]):
            self.assertEqual(self.rules(self.advise(*reports)), "Alltoall f64 >=1MiB : lossless ; * : off")

    def test_copies_stay_equal(self):
        # In a broadcast, and in a gather in place, the owner keeps exact values: under a bound, the copies would differ.
        seconds, ratios = 10 * 0.75 * MIB / 125e6, RATIOS | {"lossless": 2}
        gathered, broadcast = (kind(name, "f64", None, MIB, seconds, ratios) for name in ("allgather", "bcast"))
        self.assertIn("Allgather f64 >=1MiB : rel", self.rules(self.advise(report(gathered))))
        printed = self.advise(report(broadcast))
        self.assertEqual(self.rules(printed), "Bcast f64 >=1MiB : lossless ; * : off")
        self.assertIn("copies stay equal: lossless", printed)
        in_place = gathered | {"compressibility": samples(ratios) | {"in_place": 1}}
        self.assertEqual(self.rules(self.advise(report(in_place))), "Allgather f64 >=1MiB : lossless ; * : off")

    def test_the_gain_as_a_share_of_the_run(self):
        saved = re.search(r"(\S+) s of plain MPI would become (\S+) s", self.advise(report(LARGE) | {"seconds": 200}))
        share = 100 * (float(saved[1]) - float(saved[2])) / 200
        printed = self.advise(report(LARGE) | {"seconds": 200})
        self.assertAlmostEqual(float(re.search(r"\((\S+) % of the run's 200 s\)", printed)[1]), share, delta=0.05 * share)
        self.assertNotIn("% of the run", self.advise(report(LARGE)))

    def test_call_sites_that_differ_have_rules_of_their_own(self):
        seconds = 10 * 1.5 * MIB / 125e6
        easy, hard = (kind("allreduce", "f32", "sum", MIB, seconds, ratios) | {"site": f"solve+{i}"}
                      for i, ratios in enumerate((RATIOS, dict.fromkeys(RATIOS, 1.05))))  # fmt: skip
        for kinds in ((easy, hard), (hard, easy)):
            printed = self.advise(report(*kinds))
            self.assertEqual(self.rules(printed), "Allreduce f32 sum >=1MiB callsite=solve+0 : rel:1e-04 ; * : off")
            self.assertRegex(printed, r"f32 sum 1MiB +4 +10 +5\.5\S* .*x  at solve\+0\n")
            self.assertRegex(printed, r"f32 sum 1MiB +4 +10 +1\.05 .* at solve\+1\n")
        # Sites that are served alike share a rule, and each has its own forecast.
        usual = kind("allreduce", "f32", "sum", MIB, seconds, {b: r / 2 for b, r in RATIOS.items()}) | {"site": "solve+1"}
        printed = self.advise(report(easy, usual))
        self.assertEqual(self.rules(printed), "Allreduce f32 sum >=1MiB : rel:1e-04 ; * : off")
        self.assertRegex(printed, r"1MiB +4 +10 +5\.5")
        self.assertRegex(printed, r"1MiB +4 +10 +2\.8 ")
        # Packed integers at one site leave the bound to the other.
        moved = kind("alltoall", "f64", None, MIB, seconds / 2, RATIOS | {"lossless": 2}) | {"site": "solve+0"}
        packed = moved | {"site": "solve+1", "compressibility": moved["compressibility"] | {"packed": 1}}
        expected = "Alltoall f64 >=1MiB callsite=solve+0 : rel:1e-04 ; Alltoall f64 >=1MiB callsite=solve+1 : lossless ; * : off"
        self.assertEqual(self.rules(self.advise(report(moved, packed))), expected)
        untimed = packed | {"nanoseconds": {"plain": 0}}  # nothing is known of the gain at this site
        self.assertEqual(self.rules(self.advise(report(moved, untimed))), expected.partition(" ; ")[0] + " ; * : off")

    def test_frames_between_two_ranks_pass_faster_than_plain_calls(self):
        def coded(ranks, seconds):
            one = kind("allreduce", "f32", "sum", 64 * MIB, seconds, dict.fromkeys(RATIOS, 8))
            found = re.search(r"link 0.125 GB/s .* 8 +\S+ +(\S+) ", self.advise(report(one, ranks=ranks)), re.S)
            return float(found[1])

        seconds = 10 * 64 * MIB / 125e6  # one call of the ten is a trial of plain MPI
        self.assertAlmostEqual(coded(4, 1.5 * seconds), 1.5 * seconds * (0.9 / 8 + 0.1), delta=0.3)
        self.assertAlmostEqual(coded(2, seconds), seconds * (0.9 / 8 / 1.5 + 0.1), delta=0.2)

    def test_nonblocking_calls_pay_for_trials(self):
        def coded(calls):
            one = kind("allreduce", "f32", "sum", 64 * MIB, 0, dict.fromkeys(RATIOS, 8), calls)
            made = report()
            made["communicators"] = [{"ranks": 4, "needs": "TAUT_NONBLOCKING=1", "kinds": [one]}]
            return float(re.search(rf" {calls} +8 +\S+ +(\S+) ", self.advise(made, arguments=["--link", "1gbit"]))[1])

        plain = 1.5 * 64 * MIB / 125e6
        self.assertAlmostEqual(coded(40) - 10 * coded(4), 3 * plain * 7 / 8, delta=0.15)

    def test_call_sites_that_no_rule_can_name(self):
        seconds = 10 * 0.75 * MIB / 125e6
        moved = kind("alltoall", "f64", None, MIB, seconds, RATIOS | {"lossless": 2})
        packed = moved | {"compressibility": moved["compressibility"] | {"packed": 1}}
        one, other = moved | {"site": "solve+0"}, packed | {"site": "solve+1"}
        alone = "Alltoall f64 >=1MiB : lossless ; * : off"
        for odd in ("a b+1", "a;b", "$(x)", None):  # some call has no name in a rule
            self.assertEqual(self.rules(self.advise(report(one, packed | {"site": odd}))), alone)
        # Ranks that make the same calls at different sites.
        printed = self.advise(report(one), report(other, rank=1))
        self.assertEqual(self.rules(printed), alone)
        self.assertRegex(printed, r"alltoall f64 1MiB +4 +10 ")
        self.assertNotIn("solve", printed)

    def test_the_calls_of_a_rank_are_averaged_over_its_communicators(self):
        seconds = 10 * 1.5 * MIB / 125e6
        easy, hard = (kind("allreduce", "f32", "sum", MIB, seconds, {b: ratio for b in RATIOS}) for ratio in (8, 2))
        one = report(easy)
        one["communicators"].append({"ranks": 4, "kinds": [hard]})
        self.assertRegex(self.advise(one), r"1MiB +4 +20 +3\.2 ")  # 2 of 8 + 2

    def with_times(self, seconds, rank, gaps=None, **more):
        """Returns a report of calls of these times in plain MPI. `gaps`: the times before them."""
        one = kind("allreduce", "f32", "sum", MIB, sum(seconds), calls=len(seconds))
        one["plain_times"] = {"every": 1, "nanoseconds": [int(1e9 * s) for s in seconds]}
        if gaps:
            one["plain_times"]["gaps"] = [None if gap is None else int(1e9 * gap) for gap in gaps]
        made = report(one, ranks=2, rank=rank)
        made["communicators"][0]["group"] = "0123456789abcdef"
        return made | more

    def test_waiting_for_ranks_that_are_late_in_turn_is_no_slow_link(self):
        late, least = 50e-3, MIB / 10e9  # a link of 10 GB/s
        first, second = ([least + late * ((i + rank) % 2) for i in range(40)] for rank in range(2))
        printed = self.advise(self.with_times(first, 0), self.with_times(second, 1))
        self.assertIn("link 10 GB/s (as plain calls show)", printed)
        self.assertIsNone(self.rules(printed))
        # Calls of other numbers are not compared: the rank that waited least in all counts.
        second.pop()
        self.assertNotIn("link 10 GB/s", self.advise(self.with_times(first, 0), self.with_times(second, 1)))

    def test_waiting_for_a_processor_is_named(self):
        times = [2e-3 * (1 + i % 4) for i in range(40)]  # of both ranks at once: no rank is late
        reports = [self.with_times(times, rank) | {"seconds": 4.0, "processor_wait": 0.1} for rank in range(2)]
        printed = self.advise(*reports)
        self.assertNotIn("waited for a processor", printed)
        self.assertIn("% of the run's", printed)
        reports[1]["processor_wait"] = 3.0
        printed = self.advise(*reports)
        self.assertIn("A rank waited for a processor for 75 % of the run", printed)
        self.assertNotIn("% of the run's", printed)

    def test_calls_that_one_direction_passes_first_take_both(self):
        # Each call takes one rank 10 ms and the other 20: the first is early at the next call, and waits there.
        first, second = ([10e-3 + 10e-3 * ((i + rank) % 2) for i in range(40)] for rank in range(2))
        reports = [self.with_times(times, rank, [None] + 39 * [1e-6]) for rank, times in enumerate((first, second))]
        self.assertRegex(self.advise(*reports), r"1MiB +2 +40 +\S+ +0\.6 ")
        reports = [self.with_times(times, rank) for rank, times in enumerate((first, second))]  # of older versions
        self.assertRegex(self.advise(*reports), r"1MiB +2 +40 +\S+ +0\.4 ")

    def test_a_short_call_that_waits_for_the_end_of_a_long_one_takes_no_time(self):
        reports = []
        for rank in range(2):  # one rank ends its long calls 10 ms before the other, and waits in the short ones
            made = self.with_times(10 * [20e-3 if rank else 10e-3], rank, [None] + 9 * [1e-6])
            short = kind("allreduce", "f32", "sum", 8, 0) | {"compressibility": None}
            times = 10 * [1e-5 if rank else 10e-3]
            short["plain_times"] = {"every": 1, "nanoseconds": [int(1e9 * s) for s in times], "gaps": 10 * [1000]}
            made["communicators"][0]["kinds"].append(short)
            reports.append(made)
        self.assertRegex(self.advise(*reports), r"1MiB +2 +10 +\S+ +0\.2 ")

    def test_work_between_calls_is_no_part_of_them(self):
        work, least = 50e-3, MIB / 10e9
        first, second = ([least + work * ((i + rank) % 2) for i in range(40)] for rank in range(2))
        gaps = [[work * ((i + rank + 1) % 2) for i in range(40)] for rank in range(2)]
        printed = self.advise(self.with_times(first, 0, gaps[0]), self.with_times(second, 1, gaps[1]))
        self.assertIn("link 10 GB/s", printed)

    def test_thinned_times_are_compared_by_call(self):
        late, least = 50e-3, MIB / 10e9
        first, second = ([least + late * ((i // 2 + rank) % 2) for i in range(40)] for rank in range(2))
        reports = [self.with_times(first, 0), self.with_times(second, 1)]
        times = reports[0]["communicators"][0]["kinds"][0]["plain_times"]
        times |= {"every": 2, "nanoseconds": times["nanoseconds"][::2]}
        self.assertIn("link 10 GB/s", self.advise(*reports))

    def test_reports_of_two_runs_are_refused(self):
        for other in ({"run": "b"}, {"ranks": 3}, {"rank": 0}):
            one = report(LARGE) | {"run": "a"}
            self.file("r.json.0", json.dumps(one).encode())
            self.file("r.json.1", json.dumps(one | {"rank": 1} | other).encode())
            self.refuse(1, "r.json.1: is not of the same run as r.json.0; remove the files", "advise", "r.json")

    def test_reports_of_compressed_runs_are_refused(self):
        one = report(LARGE)
        one["communicators"][0]["compressed_calls"] = 1
        self.file("r.json", json.dumps(one).encode())
        self.refuse(1, "observe the program without TAUT_RULES", "advise", "r.json")

    def test_another_link_gives_the_run_another_time(self):
        seconds = LARGE["nanoseconds"]["plain"] / 1e9
        printed = self.advise(report(LARGE) | {"seconds": seconds + 1}, arguments=["--link", "0.5gbit"])
        self.assertNotIn("%", printed.partition("s of plain")[2])
        took = re.search(r"On such a link the run would take (\S+) s instead of (\S+) s:", printed)
        self.assertAlmostEqual(float(took[2]), 1 + 2 * seconds, delta=0.1)
        self.assertLess(float(took[1]), float(took[2]))

    def test_nonblocking_calls_have_a_variable(self):
        one = report(LARGE, kind("bcast", "f32", None, 64 * MIB, 0))
        one["communicators"].append({"ranks": 4, "needs": "TAUT_NONBLOCKING=1", "kinds": [kind("alltoall", "f32", None, 64 * MIB, 0)]})
        printed = self.advise(one)
        self.assertIn("export TAUT_NONBLOCKING=1\nexport TAUT_RULES=", printed)
        self.assertRegex(printed, r"alltoall f32 64MiB .* with TAUT_NONBLOCKING=1")
        self.assertIn("Alltoall f32 >=64MiB", self.rules(printed))
        self.assertIn("Nonblocking and persistent calls are not timed", printed)
        self.assertIn("export TAUT_NONBLOCKING=1\n", self.advise(report(LARGE) | {"nonblocking": True}))
        self.assertNotIn("TAUT_NONBLOCKING", self.advise(report(LARGE)))

    def test_pickles_and_constants_are_named(self):
        pickled = kind("gather", "u8", None, 64 * MIB, 1, {"lossless": 1.1})
        pickled["compressibility"]["pickles"] = 1
        self.assertIn("objects that Python has pickled", self.advise(report(LARGE, pickled)))
        constant = copy.deepcopy(LARGE)
        constant["compressibility"]["constant"] = 1
        self.assertIn("all values equal: a real program's data", self.advise(report(constant)))
        self.assertNotIn("all values equal", self.advise(report(constant), report(LARGE, rank=1)))

    def test_minima_are_named(self):
        least = kind("allreduce", "f32", "min", MIB, 1)
        self.assertEqual(self.rules(self.advise(report(least))), "Allreduce f32 min >=1MiB : rel:1e-04 ; * : off")

    def test_scans_pass_the_link_once_for_each_doubling(self):
        waiting, early = (kind("scan", "f32", "sum", 64 * MIB, 10 * times * 64 * MIB / 125e6) for times in (2, 1))
        printed = self.advise(report(early), report(waiting, rank=1))  # the first ranks have their results early
        self.assertIn("link 0.125 GB/s (as plain calls show)", printed)
        self.assertEqual(self.rules(printed), "Scan f32 sum >=64MiB : rel:1e-04 ; * : off")

    def test_messages_have_a_rule_and_a_variable(self):
        sent = kind("send", "f32", None, MIB, 0) | {"plain_calls": {"off": 10}}
        printed = self.advise(report(sent), arguments=["--link", "1gbit"])
        self.assertRegex(printed, r"send f32 1MiB +4 +10 +8 +0.0839 +0.01")  # 10 MiB by 1 Gbit/s, ratio 8
        self.assertIn("export TAUT_MESSAGES=1\nexport TAUT_RULES=", printed)
        self.assertEqual(self.rules(printed), "Send f32 >=1MiB : rel:1e-04 ; * : off")
        self.assertIn("In shared memory nothing is gained", printed)
        lossless = self.advise(report(sent), arguments=["--link", "1gbit", "--bound", "lossless"])
        self.assertEqual(self.rules(lossless), "Send f32 >=1MiB : lossless ; * : off")
        both = self.advise(report(sent, LARGE))  # on the link that the collective calls show
        self.assertEqual(self.rules(both), "Allreduce f32 sum >=64MiB : rel:1e-04 ; Send f32 >=1MiB : rel:1e-04 ; * : off")

    def test_messages_that_gain_nothing(self):
        sent = kind("send", "f32", None, MIB, 0)
        printed = self.advise(report(sent))
        self.assertIn("link not known", printed)
        self.assertIn("Give it: --link", printed)
        self.assertIsNone(self.rules(self.advise(report(sent), arguments=["--link", "400GB"])))
        for one in (sent | {"compressibility": None}, sent | {"collective": "recv"}):
            self.assertIn("Nothing to advise on", self.advise(report(one), arguments=["--link", "1gbit"]))
        # The forecast takes a coded message as at least 64 KiB long, and the first one as plain.
        short = kind("send", "f32", None, 128 * 1024, 0, dict.fromkeys(RATIOS, 100))
        self.assertRegex(self.advise(report(short), arguments=["--link", "1gbit"]), r"send f32 128KiB .* 1.7x")
        printed = self.advise(report(LARGE, sent), arguments=["--link", "400GB"])
        self.assertNotIn("TAUT_MESSAGES", printed)

    def test_a_history_is_proposed_where_it_gains(self):
        moved = kind("alltoall", "f64", None, MIB, 10 * 0.75 * MIB / 125e6, RATIOS | {"lossless": 2})
        self.assertNotIn("history", self.advise(report(moved)))
        printed = self.advise(report(moved | {"history_would_give": history(4)}))
        self.assertIn("alltoall f64 1MiB resembles earlier calls: history= makes frames 4 times smaller", printed)
        self.assertRegex(printed, r"alltoall f64 1MiB +4 +10 +32 ")
        self.assertEqual(self.rules(printed), "Alltoall f64 >=1MiB : rel:1e-04 history=auto ; * : off")
        self.assertNotIn("history", self.advise(report(moved | {"history_would_give": history(1, period=0)})))
        self.assertNotIn("history=", self.rules(self.advise(report(moved | {"history_would_give": history(1.05)}))))
        # Fields in turn, and calls whose states need more memory than is usual.
        printed = self.advise(report(moved | {"history_would_give": history(4, period=9)}))
        self.assertIn("rel:1e-04 history=18 ;", self.rules(printed))
        large = kind("alltoall", "f64", None, 128 * MIB, 10 * 0.75 * 128 * MIB / 125e6) | {"history_would_give": history(4)}
        self.assertIn("rel:1e-04 history=auto history_bytes=512MiB ;", self.rules(self.advise(report(large))))
        # The rank that gains least decides; what the user asks for is not written twice.
        printed = self.advise(report(moved | {"history_would_give": history(4)}), report(moved | {"history_would_give": history(2)}, rank=1))
        self.assertIn("2 times smaller", printed)
        printed = self.advise(report(moved | {"history_would_give": history(4)}), arguments=["--bound", "abs:1e-4,history=8"])
        self.assertEqual(self.rules(printed), "Alltoall f64 >=1MiB : abs:1e-04 history=8 ; * : off")

    def test_weights_gain_by_a_history_alone(self):
        sent = kind("bcast", "bf16", None, MIB, 10 * 1.5 * MIB / 125e6, RATIOS | {"lossless": 1.1})
        self.assertIsNone(self.rules(self.advise(report(sent))))
        printed = self.advise(report(sent | {"history_would_give": history(20)}))
        self.assertEqual(self.rules(printed), "Bcast bf16 >=1MiB : lossless history=auto ; * : off")

    def test_a_history_of_sums_needs_a_bound_that_stays(self):
        large = LARGE | {"history_would_give": history(3)}
        printed = self.advise(report(large))
        self.assertIn("abs:0.0001 history=auto, a bound that stays, would\nmake frames 3 times smaller", printed)
        self.assertNotIn("history", self.rules(printed))
        printed = self.advise(report(large), arguments=["--bound", "abs:1e-4"])
        self.assertIn("abs:1e-04 history=auto ; ", self.rules(printed))

    def test_fast_links_gain_nothing(self):
        printed = self.advise(report(LARGE), arguments=["--link", "400GB"])
        self.assertIsNone(self.rules(printed))
        self.assertIn("plain MPI is as fast", printed)
        self.assertIsNotNone(self.rules(self.advise(report(LARGE), arguments=["--link", "1gbit", "--nodes", "8"])))
        # On 1000 ranks each rank's bound is a tenth of the least sampled one: 3.3 bits more than the 16 of its ratio of 2.
        self.assertRegex(self.advise(report(LARGE), arguments=["--link", "1gbit", "--nodes", "1000"]), r" 64MiB .* 1\.66 ")

    def test_the_worst_rank_decides(self):
        hard = copy.deepcopy(LARGE)
        hard["compressibility"] = samples(dict.fromkeys(RATIOS, 1.1))
        self.assertIsNone(self.rules(self.advise(report(LARGE), report(hard, rank=1))))

    def test_nothing_to_advise_on(self):
        for one in (report(), report(LARGE, ranks=1), report(LARGE | {"compressibility": None})):
            self.assertIn("Nothing to advise on", self.advise(one))

    def test_what_is_no_report(self):
        self.refuse(1, "there is no such report", "advise", "none.json")
        for name, text in (("x", b"{"), ("y", b'{"format": "other"}'), ("z", b'{"format": "taut-report", "version": 1}'),
                           ("v", b"[" * 100), ("w", b'{"a": 01}')):
            self.file(name, text)
            self.refuse(1, name + ": is ", "advise", name)
        self.file("r", json.dumps(report(LARGE)).encode())
        for text, *arguments in (("is no rate", "--link", "fast"), ("off compresses nothing", "--bound", "off"), ("abs:0.1 (the error", "--bound", "0.1"),
                                 ("whole number", "--nodes", "2.5")):
            self.refuse(2, text, "advise", "r", *arguments)
        self.refuse(2, "REPORT is missing", "advise")


if __name__ == "__main__":
    unittest.main()
