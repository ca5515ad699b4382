#include "compressor/hdf5/chunk.hpp"

#include <algorithm>

#include "compressor/file/failure.hpp"

namespace taut::hdf5 {

file::Buffer encode_chunk(const ChunkOptions& options, ConstBytes values) {
  if (!options.type) file::fail("the words of the filter do not name the type of the values");
  const file::Array array{*options.type, file::Form::npy, options.extents};
  if (array.bytes() != values.size())
    file::fail("a chunk has " + std::to_string(values.size()) + " bytes where the words of the filter name " +
               std::to_string(array.bytes()) + "; the filter must be the first of the dataset");
  return file::encode_chunk(array, options.coding, values, "a chunk of an HDF5 dataset");
}

file::Buffer decode_chunk(const ChunkOptions& options, ConstBytes coded) {
  file::ChunkReader reader(coded);
  const file::Array& array = reader.array();
  if (options.type && (array.type != *options.type || array.shape != options.extents))
    file::fail("a chunk is not of the type and shape that the words of the filter name; get the file again");
  file::Buffer values;
  reserve(values, std::max<std::size_t>(array.bytes(), 1));
  values.bytes = array.bytes();
  reader.decode({values.data.get(), values.bytes});
  return values;
}

}  // namespace taut::hdf5
