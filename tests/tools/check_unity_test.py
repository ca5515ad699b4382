"""tools/check_unity.py: names that two sources of a folder define in anonymous namespaces."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import check_unity

ROOT = Path(__file__).parents[2]


def source(*declarations):
    return "\n".join(["namespace taut {", "namespace {", *declarations, "}", "void called_elsewhere() { int inside = 0; }", "}"])


class CheckUnity(unittest.TestCase):
    def found(self, a, b):
        return [name for _, name, _ in check_unity.faults({"a.cpp": source(a), "b.cpp": source(b)})]

    def test_two_functions_of_the_same_parameters_are_a_fault(self):
        self.assertEqual(self.found("int size_of(const Call& call, int n = 1) { return n; }", "int size_of(const Call& other,\n int) { return 2; }"), ["taut::size_of"])
        self.assertEqual(self.found("template <class T>\nvoid mix(T& to) { f({1}); }", "template <class S> void mix(S& to) {}"), [])
        self.assertEqual(self.found("template <class T>\nvoid mix(T& to) { f({1}); }", "template <class T> void mix(T& from) {}"), ["taut::mix"])

    def test_other_parameters_make_another_function(self):
        self.assertEqual(self.found("std::string json_of(const A& a) { return {}; }", "std::string json_of(const B& a) { return {}; }"), [])
        self.assertEqual(self.found("template <class T> T put(T x) { return x; }", "int put(T x) { return 1; }"), [])

    def test_types_and_constants_share_their_name_with_nothing(self):
        self.assertEqual(self.found("struct Names { int of; };", "enum class Names { of };"), ["taut::Names"])
        self.assertEqual(self.found("constexpr std::size_t most = std::size_t{1} << 20;", "int most(int x) { return x; }"), ["taut::most"])
        self.assertEqual(self.found("const char* const texts[] = {a, b};", "using texts = int;"), ["taut::texts"])

    def test_members_and_local_names_are_not_counted(self):
        self.assertEqual(self.found("struct A { int f() const; int most; };\nint A::f() const { int n = 0; return n; }", "struct B { int f() const; };\nint B::f() const { int n = 0; return n; }"), [])

    def test_static_functions_count_and_namespaces_are_told_apart(self):
        texts = {"a.cpp": "static int f(int x) { return x; }", "b.cpp": "namespace { int f(int y) { return y; } }", "c.cpp": "namespace api { namespace { int f(int y) { return y; } } }"}
        self.assertEqual([(file, name) for file, name, _ in check_unity.faults(texts)], [("b.cpp", "f")])

    def test_the_folders_are_those_of_the_build(self):
        self.assertIn("communication/comm", check_unity.folders(ROOT))
        self.assertTrue(all((ROOT / "src" / folder).is_dir() for folder in check_unity.folders(ROOT)))


if __name__ == "__main__":
    unittest.main()
