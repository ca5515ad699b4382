// A tar archive in memory: files by name. `tar -tvf tests/golden/planes.tar` lists one.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compressor/values/slice.hpp"

namespace taut::test {

using ArchiveMember = std::pair<std::string, std::vector<std::byte>>;  // name, contents
using Archive = std::vector<ArchiveMember>;

// Reads an archive of plain files, as `write_archive` and `tar --format=ustar` make them. A missing file
// gives an empty archive; a damaged archive throws.
Archive read_archive(const std::filesystem::path& path);

// Writes an archive. The same members give the same bytes: owner and time are zero, the order is kept.
void write_archive(const std::filesystem::path& path, const Archive& archive);

// Returns the contents of a member; empty: no member has that name.
ConstBytes find_member(const Archive& archive, const std::string& name) noexcept;

}  // namespace taut::test
