// Defines std::pair without concepts, on which clang 15 fails when it compiles for a GPU. hipcc.sh includes
// this file before all others. <compare>, which stl_pair.h includes, uses the macro, and <concepts> defines
// it: both come first, so that they are complete and do not define it again.
#pragma once

#include <compare>
#include <concepts>
#pragma push_macro("__cpp_lib_concepts")
#undef __cpp_lib_concepts
#include <bits/stl_pair.h>
#pragma pop_macro("__cpp_lib_concepts")
