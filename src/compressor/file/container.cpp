#include "compressor/file/files.hpp"

#include <string_view>

namespace taut::file {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;  // at the start of the file
  const char* name;
  const char* remedy;
  std::string_view block = {};  // at offset 4, if the first bytes alone would be too few to tell
};

constexpr const char* netcdf_remedy =
    "convert it by 'nccopy -k nc4 IN OUT.nc', and name a variable, OUT.nc::VARIABLE";
constexpr const char* other_remedy = "save the numbers that it holds as a .npy file";
constexpr const char* packed_remedy = "unpack it first";

// The signatures are those of the formats' specifications. NetCDF-4 files are HDF5 files.
constexpr Signature signatures[] = {
    {"CDF\x01"sv, "a NetCDF-3 file", netcdf_remedy},
    {"CDF\x02"sv, "a NetCDF-3 file with 64-bit offsets", netcdf_remedy},
    {"CDF\x05"sv, "a NetCDF-3 file with 64-bit data (CDF-5)", netcdf_remedy},
    {"PK\x03\x04"sv, "a ZIP archive", "extract its .npy files by 'unzip', as from the .npz of NumPy"},
    {"PK\x05\x06"sv, "an empty ZIP archive", other_remedy},
    {"GRIB"sv, "a GRIB file", other_remedy},
    {"SIMPLE  ="sv, "a FITS file", other_remedy},
    {"II*\0"sv, "a TIFF file", other_remedy},
    {"MM\0*"sv, "a TIFF file", other_remedy},
    {"\x89PNG\r\n\x1a\n"sv, "a PNG file", other_remedy},
    {"\x1f\x8b\x08"sv, "a file compressed by gzip", packed_remedy},
    {"\x28\xb5\x2f\xfd"sv, "a file compressed by zstd", packed_remedy},
    {"\xfd"
     "7zXZ\0"sv,
     "a file compressed by xz", packed_remedy},
    {"BZh"sv, "a file compressed by bzip2", packed_remedy, "1AY&SY"sv},
    {"\x89TAUT\r\n\x1a"sv, "a .taut file already", "restore its array by 'taut decompress'"},
};

constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n"sv;

bool holds_at(const ByteSource& file, std::uint64_t offset, std::string_view bytes) {
  char found[16];
  if (bytes.empty()) return true;
  if (file.size() < offset || file.size() - offset < bytes.size()) return false;
  file.read(offset, std::as_writable_bytes(std::span(found).first(bytes.size())));
  return std::string_view(found, bytes.size()) == bytes;
}

// The signature of HDF5 lies at the start, or behind a block of the user's of 512 bytes times a power of two.
bool is_hdf5(const ByteSource& file) {
  if (holds_at(file, 0, hdf5_signature)) return true;
  for (std::uint64_t offset = 512; offset < file.size(); offset *= 2)
    if (holds_at(file, offset, hdf5_signature)) return true;
  return false;
}

}  // namespace

std::optional<std::string> container_of(const ByteSource& file) {
  if (is_hdf5(file))
    return "an HDF5 file: name a variable, " + file.path() +
           "::VARIABLE, in the command of the Python package";
  for (const Signature& known : signatures)
    if (holds_at(file, 0, known.bytes) && holds_at(file, 4, known.block))
      return std::string(known.name) + ": " + known.remedy;
  return std::nullopt;
}

}  // namespace taut::file
