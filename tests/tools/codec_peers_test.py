"""Tests the tables of public compressors beside Taut, and what the committed figures hold."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import report as reports
import run
import suite  # noqa: F401  finds the folders

import codec_peers as peers
import fields
import link_map


def row(codec, ratio, speed, field="wave", of_range=0, **more):
    return {
        "codec": codec, "dims": False, "field": field, "of_range": of_range, "ratio": ratio, "encode_gb_per_s": speed,
        "decode_gb_per_s": speed, "exact": True,
    } | more  # fmt: skip


class MissingPeers(unittest.TestCase):
    def versions(self, absent, without=()):
        """Returns the exit status and the message where one package is absent, else the packages that were found."""

        def imported(package):
            if package == absent:
                raise ImportError(package)

        said = io.StringIO()
        with (
            mock.patch.object(peers, "numpy", object()),
            mock.patch.object(peers.importlib, "import_module", imported),
            mock.patch.object(peers.importlib.metadata, "version", lambda package: "1"),
            contextlib.redirect_stderr(said),
        ):
            try:
                return set(peers.versions(list(without)))
            except SystemExit as end:
                return end.code, said.getvalue()

    def test_every_missing_peer_ends_the_program_and_is_named_with_the_remedy(self):
        for package in set(peers.PACKAGE_OF.values()):
            status, said = self.versions(package)
            self.assertEqual(status, 2)
            self.assertIn(f"{package}: not installed", said)
            self.assertIn("tools/setup.sh bench_peers", said)
            self.assertIn(f"--without {package}", said)

    def test_a_peer_may_be_left_out_by_its_name(self):
        self.assertEqual(self.versions("fpzip", ["fpzip"]), set(peers.PACKAGE_OF.values()) - {"fpzip"})

    def test_every_peer_belongs_to_a_package(self):
        self.assertEqual(set(peers.PACKAGE_OF), set(peers.EXACT) | set(peers.BOUNDED))

    def test_a_missing_folder_ends_the_program(self):
        options = run.parse("peers", peers.SUITE, ["--taut_fields", "/nowhere"])
        with self.assertRaisesRegex(SystemExit, "TAUT_FIELDS"):
            next(fields.fields_of(options))

    def test_the_pages_are_written_beside_the_report(self):
        report = reports.only_run(peers.RESULTS)
        with tempfile.TemporaryDirectory() as folder:
            peers.write_pages(report, run.parse("peers", peers.SUITE, ["--out", folder]))
            self.assertEqual(sorted(path.name for path in Path(folder).iterdir()), ["best_codec.md", "codec_peers.md"])


class LinkMap(unittest.TestCase):
    rows = (row("archiver", 4, 0.1), row("mpc", 2, 10), row("szx", 1.01, 100))

    def test_the_highest_ratio_wins_on_a_slow_link_and_speed_on_a_fast_one(self):
        found = [link_map.best(self.rows, gbit).split()[0] for gbit in (0.01, 1, 10, 1000)]
        self.assertEqual(found, ["archiver", "mpc", "mpc", "plain"])

    def test_the_gain_is_that_of_the_three_steps(self):
        self.assertEqual(link_map.best([row("mpc", 2, 10)], 8), "mpc 1.4x")  # 1 / (0.1 + 0.5 + 0.1)

    def test_a_codec_that_breaks_its_bound_is_left_out(self):
        text = link_map.page([row("mpc", 2, 10), row("wrong", 9, 10, exact=False)])
        self.assertIn("| wave | mpc 2x", text)
        self.assertNotIn("wrong", text)


class CommittedFigures(unittest.TestCase):
    report = reports.only_run(peers.RESULTS)

    def test_all_peers_were_measured_on_all_fields_and_were_exact(self):
        fields = {row["field"] for row in self.report["rows"]}
        self.assertEqual(len(fields), 16)
        measured = {(row["field"], row["codec"]) for row in self.report["rows"] if row["of_range"] == 0 and row.get("exact")}
        self.assertEqual(measured, {(field, codec) for field in fields for codec in (*peers.EXACT, *self.report["programs"])})

    def test_means_leave_out_fill_values_and_nan(self):
        self.assertEqual(self.report["not_in_means"], {"exact": ["num_plasma"], "bounded": ["ocean_sst_fill", "spitzer_image"]})
        page = "\n".join(peers.page(self.report))
        self.assertEqual(page.count("geometric mean of 14 |"), len(peers.BOUNDS))
        self.assertEqual(page.count("geometric mean of 15 |"), 1)


if __name__ == "__main__":
    unittest.main()
