// std::pair without concepts, included before all else: clang 15 fails on its concepts when it compiles for a
// GPU.
#pragma once

#include <compare>
#include <concepts>
#pragma push_macro("__cpp_lib_concepts")
#undef __cpp_lib_concepts
#include <bits/stl_pair.h>
#pragma pop_macro("__cpp_lib_concepts")
