// Call sites: addresses in the program, as text.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// Returns the function that contains the address, and the offset: "solve+0x1f3". If the program exports no
// such name, returns the file and the offset in it, for addr2line: "stack_images+0x41f3". If neither is
// known, returns the address. "" for null.
std::string call_site_name(const void* address);

// Returns true if the address is in the call site that a rule names: a module ("libsolver.so", "program"), a
// function that the program exports ("solve"), or a text of call_site_name(). "": any address.
bool is_call_site(const void* address, std::string_view wanted);

}  // namespace taut
