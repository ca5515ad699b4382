// Defines std::pair without concepts, on which clang 15 fails when it compiles for a GPU. hipcc.sh includes
// this file before all others.
#pragma once

#include <compare>
#include <concepts>
#pragma push_macro("__cpp_lib_concepts")
#undef __cpp_lib_concepts
#include <bits/stl_pair.h>
#pragma pop_macro("__cpp_lib_concepts")
