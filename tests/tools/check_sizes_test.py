import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from check_sizes import check_file, main


def faults(name, text):
    return [message for _, _, message in check_file(name, text)]


def function(lines, heading="int long_one(int n)"):
    return heading + " {\n" + "  ++n;\n" * (lines - 2) + "}\n"


class CheckSizes(unittest.TestCase):
    def test_files(self):
        self.assertEqual(faults("src/core/a.cpp", "\n" * 500), [])
        self.assertEqual(len(faults("src/core/a.cpp", "\n" * 501)), 1)
        self.assertEqual(faults("include/taut/taut.h", "\n" * 600), [])
        self.assertEqual(len(faults("include/taut/taut.h", "\n" * 601)), 1)

    def test_functions(self):
        for heading in (
            "int f(int n)",
            "template <class T>\n[[nodiscard]] auto f(T n) -> struct X",
            "Class::Class(int n) : a_{n}, b_(n)",
            "bool operator==(const A& a, int n)",
        ):
            self.assertEqual(faults("src/a.cpp", "namespace taut {\n" + function(78, heading) + "}\n"), [], heading)
            self.assertEqual(len(faults("src/a.cpp", "namespace taut {\n" + function(82, heading) + "}\n")), 1, heading)

    def test_a_method_counts_and_its_class_does_not(self):
        methods = "class A final : public B {\n" + "  void f() {\n  }\n" * 60 + "};\n"
        self.assertEqual(faults("src/a.hpp", methods), [])
        self.assertEqual(len(faults("src/a.hpp", "class A {\n" + function(81, "void f(int n)") + "};\n")), 1)

    def test_tables_comments_and_literals_are_not_functions(self):
        self.assertEqual(faults("src/a.cpp", "const int table[] = {\n" + "  1,\n" * 90 + "};\n"), [])
        self.assertEqual(faults("src/a.cpp", 'const char* a = "{";  // {\nchar c = \'{\';\n' + "int x;\n" * 90), [])

    def test_virtuals(self):
        verbs = "".join(f"  virtual void f{i}() = 0;\n" for i in range(8))
        self.assertEqual(faults("src/a.hpp", "class A {\n" + verbs + "};\n"), [])
        self.assertEqual(len(faults("src/a.hpp", "class A {\n" + verbs + "  virtual ~A() = default;\n};\n")), 1)

    def test_python_functions(self):
        self.assertEqual(faults("tools/a.py", "def f():\n" + "    pass\n" * 79), [])
        self.assertEqual(len(faults("tools/a.py", "def f():\n" + "    pass\n" * 80)), 1)

    def test_exceptions_are_listed_and_needed(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "src").mkdir()
            (root / "tools").mkdir()
            (root / "src/a.cpp").write_text(function(90))
            listed = root / "tools/sizes_allowed.txt"
            self.assertEqual(main(root), 1)
            listed.write_text("src/a.cpp:long_one one table of cases\n")
            self.assertEqual(main(root), 0)
            (root / "src/a.cpp").write_text(function(9))
            self.assertEqual(main(root), 1)


if __name__ == "__main__":
    unittest.main()
