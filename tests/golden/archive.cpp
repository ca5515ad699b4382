#include "golden/archive.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <span>
#include <stdexcept>

namespace taut::test {
namespace {

constexpr std::size_t block_bytes = 512;  // alignment of headers and contents

// Header of a member in the ustar format (POSIX.1-1988): text fields that end in a zero, numbers in octal.
struct Header {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6],
      version[2];
  char user[32], group[32], major[8], minor[8], prefix[155], unused[12];
};
static_assert(sizeof(Header) == block_bytes);

std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + block_bytes - 1) / block_bytes * block_bytes;
}

// Returns the sum of the header's bytes, with spaces in the checksum field.
unsigned checksum_of(Header header) noexcept {
  std::memset(header.checksum, ' ', sizeof header.checksum);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  return std::accumulate(bytes, bytes + sizeof header, 0u);
}

Header header_of(const ArchiveMember& member) {
  if (member.first.size() >= sizeof Header::name)
    throw std::runtime_error("too long a name: " + member.first);
  Header header{};
  std::snprintf(header.name, sizeof header.name, "%s", member.first.c_str());
  std::snprintf(header.mode, sizeof header.mode, "%07o", 0644u);
  std::snprintf(header.uid, sizeof header.uid, "%07o", 0u);
  std::snprintf(header.gid, sizeof header.gid, "%07o", 0u);
  std::snprintf(header.size, sizeof header.size, "%011o", static_cast<unsigned>(member.second.size()));
  std::snprintf(header.mtime, sizeof header.mtime, "%011o", 0u);
  header.type = '0';  // a plain file
  std::memcpy(header.magic, "ustar", sizeof header.magic);
  std::memcpy(header.version, "00", sizeof header.version);
  std::snprintf(header.checksum, sizeof header.checksum, "%06o", checksum_of(header));
  return header;
}

}  // namespace

Archive read_archive(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Archive archive;
  Header header;
  while (file.read(reinterpret_cast<char*>(&header), sizeof header) && header.name[0] != '\0') {
    if (std::strtoul(header.checksum, nullptr, 8) != checksum_of(header))
      throw std::runtime_error(path.string() + " is damaged");
    std::vector<std::byte> contents(padded(std::strtoul(header.size, nullptr, 8)));
    file.read(reinterpret_cast<char*>(contents.data()), static_cast<std::streamsize>(contents.size()));
    if (!file) throw std::runtime_error(path.string() + " is cut off");
    contents.resize(std::strtoul(header.size, nullptr, 8));
    archive.emplace_back(header.name, std::move(contents));
  }
  return archive;
}

void write_archive(const std::filesystem::path& path, const Archive& archive) {
  std::ofstream file(path, std::ios::binary);
  constexpr char zeros[2 * block_bytes] = {};  // two blocks of zeros end an archive
  for (const ArchiveMember& member : archive) {
    const Header header = header_of(member);
    const std::size_t bytes = member.second.size();
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(member.second.data()), static_cast<std::streamsize>(bytes));
    file.write(zeros, static_cast<std::streamsize>(padded(bytes) - bytes));
  }
  file.write(zeros, sizeof zeros);
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

ConstBytes find_member(const Archive& archive, const std::string& name) noexcept {
  const auto found = std::ranges::find(archive, name, &ArchiveMember::first);
  return found == archive.end() ? ConstBytes{} : ConstBytes{found->second};
}

}  // namespace taut::test
