"""Tests that the table of kernel times is that of the committed measurements, and how far it is from them."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/gpu"))
import kernel_times


class KernelTimes(unittest.TestCase):
    def test_the_table_is_that_of_the_measurements(self):
        self.assertEqual(kernel_times.TABLE.read_text(), kernel_times.text())

    def test_the_table_is_within_30_percent_of_them(self):
        for card, path in kernel_times.CARDS.items():
            for kernel, data, size, off in kernel_times.errors(
                kernel_times.rows_of(kernel_times.ROOT / path)
            ):
                self.assertLess(abs(off - 1), 0.3, (card, kernel, data, size))

    def test_a_line_is_fitted_exactly(self):
        fixed, a_byte = kernel_times.fit(
            {size: 5e-6 + 2e-12 * size for size in (1 << 16, 1 << 20, 1 << 28)}
        )
        self.assertAlmostEqual(fixed, 5e-6)
        self.assertAlmostEqual(a_byte, 2e-12)

    def test_rows_are_read_as_check_sh_writes_them(self):
        line = '{{"bench": "{} walk, ratio 8", "bytes": {}, "ratio": 8, "median_us": {}}}\n'
        kernels = (
            "encode",
            "decode",
            "decode_add",
            "frame_add",
            "frame_add of 8",
            "accumulate",
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernels.json"
            lines = (
                line.format(name, size, (16 if "8" in name else 10) + size / 1e6)
                for name in kernels
                for size in (65536, 1 << 28)
            )
            path.write_text('{"probe": "driver", "is": "1"}\n' + "".join(lines))
            rows = list(kernel_times.table("B200", kernel_times.rows_of(path)))
        self.assertEqual(len(rows), 1)
        self.assertTrue(rows[0].startswith('{"B200", 8, {1e-05, 1e-12}, '), rows)


if __name__ == "__main__":
    unittest.main()
