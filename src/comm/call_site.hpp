// Addresses of the program as text.
#pragma once

#include <string>

namespace taut {

// The function that the address lies in, and the offset: "solve+0x1f3". Where the program exports no such
// name, its file and the offset in it, for addr2line: "stack_images+0x41f3". Else the address. "" for null.
std::string call_site_name(const void* address);

}  // namespace taut
