// The extension module taut._core: the codec calls of taut.h, support for .taut files, and calls into an MPI
// layer that is opened at run time. No MPI is linked. Addresses are plain numbers: the Python part keeps the
// memory alive and has checked its size. The GIL is released while values are processed.
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "compressor/api/device_codec.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/file/bound_check.hpp"
#include "compressor/file/chunking.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/gpu/device_call.hpp"
#include "errors.hpp"
#include "layer.hpp"
#include "plans.hpp"

namespace taut::python {
namespace {

ConstBytes bytes_at(Address address, std::size_t bytes) {
  return {reinterpret_cast<const std::byte*>(address), bytes};
}

Slice values_at(Address address, std::size_t count, int type) {
  return {reinterpret_cast<std::byte*>(address), count, static_cast<DType>(type)};
}

// Checks the coding text of an array, and returns it as files hold it; raises if the text is invalid.
std::string check_coding(const std::string& text) {
  const bool dims = unlocked([&] { return parse_coding(text).dims.n > 0; });
  if (dims)
    raise(TAUT_ERR_POLICY, "'" + text + "': dims= follows from the shape of the array; leave it away");
  return with_colon(text);
}

// Returns the coding text of the array's frames, in which bounds relative to the array's range are absolute,
// and a warning about the bound, which is empty if there is none or the values are on a GPU.
std::pair<std::string, std::string> frame_text(const std::string& text, Address address, std::size_t count,
                                               int type) {
  return unlocked([&] {
    const file::ArrayCoding coding("bound", text);
    const ConstSlice values{values_at(address, count, type)};
    const ValueRange range =
        coding.needs_range(values.type) ? api::range_anywhere(values, coding.coding()) : ValueRange{};
    return std::pair(coding.frame_text(values.type, range),
                     on_device(values.data) ? std::string() : file::bound_warning(coding, range, values));
  });
}

nb::list pieces(const std::vector<std::uint64_t>& shape) {
  nb::list all;
  for (const file::Piece& piece : file::pieces_of(shape))
    all.append(nb::make_tuple(piece.first, piece.extents));
  return all;
}

// Returns the addresses as pointers.
std::vector<const void*> pointers(const std::vector<Address>& addresses) {
  std::vector<const void*> all;
  for (const Address address : addresses) all.push_back(reinterpret_cast<const void*>(address));
  return all;
}

nb::bytes encode(Address address, const std::vector<std::size_t>& extents, int type, const std::string& text,
                 const std::vector<Address>& references) {
  const file::Piece piece{0, extents};
  std::size_t bytes = 0;
  int status = TAUT_SUCCESS;
  const auto frame = unlocked([&] {
    const std::size_t capacity = TAUT_Max_bytes(static_cast<TAUT_Type>(type), piece.count(), 1);
    auto room = std::make_unique_for_overwrite<std::byte[]>(capacity);
    status = file::try_to_encode(piece, reinterpret_cast<const void*>(address), static_cast<DType>(type),
                                 text, pointers(references), {room.get(), capacity}, bytes);
    return room;
  });
  check(status);
  return nb::bytes(frame.get(), bytes);
}

void decode(Address frame, std::size_t bytes, Address values, std::size_t count, int type,
            const std::vector<Address>& references) {
  const std::vector<const void*> earlier = pointers(references);
  check(unlocked([&] {
    return TAUT_Decode_with_references(reinterpret_cast<const void*>(frame), bytes, earlier.data(),
                                       static_cast<int>(earlier.size()), reinterpret_cast<void*>(values),
                                       count, static_cast<TAUT_Type>(type));
  }));
}

TAUT_Frame_info info_of(Address frame, std::size_t bytes) {
  TAUT_Frame_info info{};
  info.struct_size = sizeof info;
  check(TAUT_Frame_get_info(reinterpret_cast<const void*>(frame), bytes, &info));
  return info;
}

// Returns (codec, bound as text, type, count, bytes).
nb::tuple frame_info(Address frame, std::size_t bytes) {
  const TAUT_Frame_info info = info_of(frame, bytes);
  const Bound bound{static_cast<Bound::Kind>(info.bound_kind), info.bound};
  return nb::make_tuple(info.codec, text_of(bound), info.type, info.count, info.bytes);
}

nb::bytes scale(Address frame, std::size_t bytes, double factor) {
  const TAUT_Frame_info info = info_of(frame, bytes);
  std::size_t size = 0;
  int status = TAUT_SUCCESS;
  const auto scaled = unlocked([&] {
    // The bytes of the frame limit what is computed from it, whatever number of addends its header names.
    const auto type = static_cast<TAUT_Type>(info.type);
    const std::size_t capacity = std::min(TAUT_Max_bytes(type, info.count, info.addends),
                                          2 * bytes + TAUT_Max_bytes(type, info.count, 2));
    auto room = std::make_unique_for_overwrite<std::byte[]>(capacity);
    status =
        TAUT_Frame_scale(reinterpret_cast<const void*>(frame), bytes, factor, room.get(), capacity, &size);
    return room;
  });
  check(status);
  return nb::bytes(scaled.get(), size);
}

// Returns (count, mean, least, greatest).
nb::tuple statistics(Address frame, std::size_t bytes) {
  TAUT_Frame_statistics found{};
  found.struct_size = sizeof found;
  check(unlocked(
      [&] { return TAUT_Frame_get_statistics(reinterpret_cast<const void*>(frame), bytes, &found); }));
  return nb::make_tuple(found.count, found.mean, found.least, found.greatest);
}

// Contents of a DLPack capsule, in host or device memory; keeps the memory alive.
class Tensor {
 public:
  explicit Tensor(nb::ndarray<> array) : array_(std::move(array)) {}

  Address address() const { return reinterpret_cast<Address>(array_.data()); }
  int device() const { return array_.device_type(); }
  nb::tuple type() const {
    const nb::dlpack::dtype type = array_.dtype();
    return nb::make_tuple(type.code, type.bits, type.lanes);
  }
  std::vector<std::size_t> shape() const { return {array_.shape_ptr(), array_.shape_ptr() + array_.ndim()}; }
  // Strides in values.
  std::vector<std::int64_t> strides() const {
    return {array_.stride_ptr(), array_.stride_ptr() + array_.ndim()};
  }

 private:
  nb::ndarray<> array_;
};

// Waits for the work enqueued on a CUDA stream of the device of `address`.
void wait_for_stream(Address address, Address stream) {
  unlocked([&] {
    gpu::DeviceCall(reinterpret_cast<const void*>(address), "the array")
        .wait(reinterpret_cast<void*>(stream));
  });
}

// Sets the CUDA stream of this thread's later codec calls. 0: the legacy default stream.
void use_stream(Address stream) { gpu::DeviceCall::use_stream(reinterpret_cast<void*>(stream)); }

// Copies bytes from a GPU's memory to the host.
nb::bytes copy_to_host(Address address, std::size_t bytes) {
  const auto here = unlocked([&] {
    auto room = std::make_unique_for_overwrite<std::byte[]>(bytes);
    const auto* const there = reinterpret_cast<const void*>(address);
    gpu::DeviceCall(there, "the data").copy(room.get(), there, bytes);
    return room;
  });
  return nb::bytes(here.get(), bytes);
}

std::string version() {
  int major = 0, minor = 0, patch = 0;
  TAUT_Get_version(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

NB_MODULE(_core, module) {
  module.doc() = "The codec calls of taut.h, and calls into an MPI layer.";
  module.def("check_coding", check_coding, nb::arg("text"));
  module.def("frame_text", frame_text, nb::arg("text"), nb::arg("address"), nb::arg("count"),
             nb::arg("type"));
  module.def("pieces", pieces, nb::arg("shape"));
  module.def("encode", encode, nb::arg("address"), nb::arg("extents"), nb::arg("type"), nb::arg("text"),
             nb::arg("references") = std::vector<Address>());
  module.def("decode", decode, nb::arg("frame"), nb::arg("bytes"), nb::arg("values"), nb::arg("count"),
             nb::arg("type"), nb::arg("references") = std::vector<Address>());
  module.def("frame_info", frame_info, nb::arg("frame"), nb::arg("bytes"));
  module.def("scale", scale, nb::arg("frame"), nb::arg("bytes"), nb::arg("factor"));
  module.def("statistics", statistics, nb::arg("frame"), nb::arg("bytes"));
  module.def(
      "max_bytes",
      [](int type, std::size_t count, unsigned addends) {
        return TAUT_Max_bytes(static_cast<TAUT_Type>(type), count, addends);
      },
      nb::arg("type"), nb::arg("count"), nb::arg("addends") = 1);
  module.def(
      "crc32c",
      [](Address address, std::size_t bytes) {
        return unlocked([&] { return crc32c(bytes_at(address, bytes)); });
      },
      nb::arg("address"), nb::arg("bytes"));
  nb::class_<Tensor>(module, "Tensor")
      .def(nb::init<nb::ndarray<>>(), nb::arg("capsule"))
      .def_prop_ro("address", &Tensor::address)
      .def_prop_ro("device", &Tensor::device)
      .def_prop_ro("type", &Tensor::type)
      .def_prop_ro("shape", &Tensor::shape)
      .def_prop_ro("strides", &Tensor::strides);
  module.def("wait_for_stream", wait_for_stream, nb::arg("address"), nb::arg("stream"));
  module.def("use_stream", use_stream, nb::arg("stream"));
  module.def("copy_to_host", copy_to_host, nb::arg("address"), nb::arg("bytes"));
  module.def("version", version);
#if TAUT_COMMUNICATION
  add_plan_functions(module);
  add_layer_class(module);
#endif
}

}  // namespace
}  // namespace taut::python
