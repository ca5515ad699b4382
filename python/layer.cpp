#include "layer.hpp"

#include <dlfcn.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

extern "C" {
#include "communication/loader/layer.h"
}

namespace nb = nanobind;

namespace taut::python {
namespace {

// Machine word of an argument: an integer, handle or pointer takes one word, so that functions differ only in
// the number of their arguments. This holds in the calling conventions of x86-64 (System V) and AArch64 on
// Linux, where an int is the lower half of its word.
using Word = std::uintptr_t;
constexpr std::size_t most_arguments = 14;

template <std::size_t... I>
Word invoke(void* function, const Word* words, std::index_sequence<I...>) {
  return reinterpret_cast<Word (*)(decltype(I, Word{})...)>(function)(words[I]...);
}

template <std::size_t... N>
constexpr auto invokers(std::index_sequence<N...>) {
  return std::array{+[](void* function, const Word* words) {
    return invoke(function, words, std::make_index_sequence<N>{});
  }...};
}

Word word_of(nb::handle number) {
  const Word word = PyLong_AsUnsignedLongLongMask(number.ptr());  // two's complement of a negative number
  if (word == static_cast<Word>(-1) && PyErr_Occurred() != nullptr) throw nb::python_error();
  return word;
}

// The layer for the MPI that this process has loaded. The layer stays open until the process ends: MPI may
// call back into the layer when MPI is finalised.
class Layer {
 public:
  explicit Layer(const std::string& folder) {
    const char* paths[2];
    if (taut_two_mpis(paths) != 0)
      throw std::runtime_error(std::string("two MPIs are loaded, ") + paths[0] + " and " + paths[1] +
                               "; load one of them, or taut before the second one");
    void* const mpi = taut_find_mpi();
    if (mpi == nullptr) throw std::runtime_error("no MPI is loaded; import mpi4py.MPI first");
    flavour_ = taut_mpi_flavour(mpi);
    char why[512] = "";
    handle_ = taut_open_layer(mpi, folder.c_str(), why, sizeof why);
    if (handle_ == nullptr) throw std::runtime_error(why);
  }

  const std::string& flavour() const { return flavour_; }

  // Returns the address of a function; 0 if the layer has none of this name.
  Word address(const char* name) const { return reinterpret_cast<Word>(dlsym(handle_, name)); }

 private:
  std::string flavour_;
  void* handle_ = nullptr;
};

// Calls a function and returns its result; only the lower half is valid if the result is an int.
Word call(Word function, nb::args arguments) {
  static constexpr auto table = invokers(std::make_index_sequence<most_arguments + 1>{});
  std::array<Word, most_arguments> words{};
  const std::size_t n = arguments.size();
  if (function == 0 || n > most_arguments) throw nb::value_error("no function, or too many arguments");
  for (std::size_t i = 0; i < n; ++i) words[i] = word_of(arguments[i]);
  nb::gil_scoped_release released;
  return table[n](reinterpret_cast<void*>(function), words.data());
}

}  // namespace

void add_layer_class(nb::module_& module) {
  nb::class_<Layer>(module, "Layer")
      .def(nb::init<const std::string&>(), nb::arg("folder"))
      .def_prop_ro("flavour", &Layer::flavour)
      .def("address", &Layer::address, nb::arg("name"));
  module.def("call",
             [](Word function, nb::args arguments) { return static_cast<int>(call(function, arguments)); });
  module.def("call_word", call);
}

}  // namespace taut::python
