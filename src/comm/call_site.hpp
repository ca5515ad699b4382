// Addresses of the program as text.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// The function that the address lies in, and the offset: "solve+0x1f3". Where the program exports no such
// name, its file and the offset in it, for addr2line: "stack_images+0x41f3". Else the address. "" for null.
std::string call_site_name(const void* address);

// Whether the address is in what rules name: a module ("libsolver.so", "program"), a function that the
// program exports ("solve"), or a place as call_site_name() tells it. "": anywhere.
bool is_call_site(const void* address, std::string_view wanted);

}  // namespace taut
