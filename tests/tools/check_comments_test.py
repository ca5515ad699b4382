import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from check_comments import absent, faults


class CheckComments(unittest.TestCase):
    def lines(self, text):
        return [number for number, _ in faults(text)]

    def test_blocks_that_leave_their_subject_open(self):
        self.assertEqual(self.lines("// Of a call.\nint a;\n  // Whether it runs.\n/* What is sent */\n/** All that\n"), [1, 3, 4, 5])

    def test_only_the_first_line_of_a_block_counts(self):
        self.assertEqual(self.lines("// Frames of a call.\n// Of these one is sent.\n"), [])

    def test_whole_words(self):
        self.assertEqual(self.lines("// Offset of a frame.\n// x\n\n// Sorted.\n"), [])

    def test_sources_that_comments_name_exist(self):
        text = "// As frame.cpp does, and frame/lags.hpp.\n#include \"gone.hpp\"\nint a;  // see mean.cpp\n * of <codec>.cpp and *_test.cpp\n"
        self.assertEqual(list(absent(text, {"frame.cpp", "lags.hpp"})), [(3, "mean.cpp")])
        self.assertEqual(list(absent("auto url = \"http://a.b/c\";\n", set())), [])


if __name__ == "__main__":
    unittest.main()
