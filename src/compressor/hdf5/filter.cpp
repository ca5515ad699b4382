// Filter of HDF5: a plugin that HDF5 loads from HDF5_PLUGIN_PATH. docs/spec/hdf5.md describes its data.
#include "compressor/file/array.hpp"
#include "compressor/file/failure.hpp"
#include "compressor/hdf5/chunk.hpp"
#include "compressor/hdf5/library.hpp"

namespace taut::hdf5 {
namespace {

constexpr FilterId filter_id = 384;      // from 256 to 511: for testing, without registration
constexpr std::size_t most_words = 256;  // most that HDF5 hands out

// Returns the result of body(). An exception becomes a message on HDF5's error stack, and `failed`.
template <class Result, class Body>
Result reported(const Library& hdf5, Result failed, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    hdf5.report(error.what());
  } catch (...) {
    hdf5.report("unknown exception");
  }
  return failed;
}

// Fills in type and chunk extents of the dataset for which the property list is used.
Status fill_in(const Library& hdf5, Id list, Id type) {
  unsigned flags = 0, config = 0, words[most_words];
  std::size_t count = most_words;
  const auto first =
      hdf5.function<GetFilter>("H5Pget_filter2")(list, 0, &flags, &count, words, 0, nullptr, &config);
  if (first != filter_id)
    file::fail("the filter must be the first of the dataset: others change what the bound refers to");
  if (count > most_words) file::fail("the filter has more than 256 words");
  ChunkOptions options = read_options({words, count});
  options.type = value_type(hdf5, type);
  file::check_coding(*options.type, options.coding);
  options.extents.resize(file::max_array_dims);
  const int dims =
      hdf5.function<GetChunk>("H5Pget_chunk")(list, file::max_array_dims, options.extents.data());
  if (dims < 0) file::fail("the dataset has no chunks");
  options.extents.resize(static_cast<std::size_t>(dims));
  const std::vector<unsigned> all = words_of(options);
  return hdf5.function<ModifyFilter>("H5Pmodify_filter")(list, filter_id, flags, all.size(), all.data());
}

Status set_local(Id list, Id type, Id) {
  const Library hdf5(__builtin_return_address(0));
  return reported(hdf5, Status{-1}, [&] { return fill_in(hdf5, list, type); });
}

std::size_t filter(unsigned flags, std::size_t count, const unsigned words[], std::size_t bytes,
                   std::size_t* capacity, void** buffer) {
  const Library hdf5(__builtin_return_address(0));
  return reported(hdf5, std::size_t{0}, [&] {
    const ChunkOptions options = read_options({words, count});
    const ConstBytes before(static_cast<const std::byte*>(*buffer), bytes);
    file::Buffer after =
        (flags & reading) != 0 ? decode_chunk(options, before) : encode_chunk(options, before);
    std::free(*buffer);
    *buffer = after.data.release();
    *capacity = after.capacity;
    return after.bytes;
  });
}

constexpr FilterClass filter_class{
    filter_class_version, filter_id, 1, 1, "taut: arrays under an error bound", nullptr, set_local, filter};

}  // namespace
}  // namespace taut::hdf5

// Functions by which HDF5 asks a plugin what it is.
extern "C" {
[[gnu::visibility("default")]] int H5PLget_plugin_type() { return taut::hdf5::filter_plugin; }
[[gnu::visibility("default")]] const void* H5PLget_plugin_info() { return &taut::hdf5::filter_class; }
}
