#include "communication/mpi/datatype_layout.hpp"

#include <climits>
#include <vector>

#include "communication/mpi/pmpi_counts.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::api {
namespace {

// ---- Construction of a datatype

struct Origin {
  pmpi::Count integers = 0, addresses = 0, large = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;

  explicit Origin(MPI_Datatype type) noexcept {
    if (type == MPI_DATATYPE_NULL) return;
#if MPI_VERSION >= 4
    PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner);
#else
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#endif
  }
};

// Arguments from which a datatype was constructed (MPI_Type_get_contents). Owns the derived types among them.
class Arguments {
 public:
  Arguments(MPI_Datatype type, const Origin& of)
      : integers(static_cast<std::size_t>(of.integers)),
        addresses(static_cast<std::size_t>(of.addresses)),
        types(static_cast<std::size_t>(of.types), MPI_DATATYPE_NULL) {
#if MPI_VERSION >= 4
    std::vector<MPI_Count> large(static_cast<std::size_t>(of.large));
    const int code = PMPI_Type_get_contents_c(type, of.integers, of.addresses, of.large, of.types,
                                              integers.data(), addresses.data(), large.data(), types.data());
#else
    const int code = PMPI_Type_get_contents(type, of.integers, of.addresses, of.types, integers.data(),
                                            addresses.data(), types.data());
#endif
    if (code != MPI_SUCCESS) types.clear();
  }
  Arguments(const Arguments&) = delete;
  ~Arguments() {
    for (MPI_Datatype& type : types)
      if (is_derived(type)) PMPI_Type_free(&type);
  }

  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

// ---- Positions of the values

// Kind of the values of a datatype. `packed`: the values are contiguous from the address of the element on,
// in MPI's order.
struct Form {
  Datatype value_type;
  bool packed;
};
std::optional<Form> form_of(MPI_Datatype type);

// Returns true if consecutive elements leave no gap: the extent of the type is its size.
bool is_tight(MPI_Datatype type) {
  MPI_Aint least = 0, extent = 0;
  return PMPI_Type_get_extent(type, &least, &extent) == MPI_SUCCESS && extent == bytes_of(1, type);
}

// Returns true if the blocks are contiguous. Block i has length(i) elements of `element` bytes and begins at
// place(i) * `unit` bytes.
template <class Length, class Place>
bool follow(std::size_t blocks, Length length, Place place, MPI_Count element, MPI_Count unit) {
  MPI_Count next = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    if (length(i) != 0 && place(i) * unit != next) return false;
    next += length(i) * element;
  }
  return true;
}

// Returns true if the values of a datatype that is made of packed and tight elements are contiguous.
// Combiners that are not listed count as not contiguous.
bool are_in_a_row(int combiner, const Arguments& made) {
  const auto number = [&](std::size_t i) { return MPI_Count{made.integers[i]}; };
  const auto address = [&](std::size_t i) { return MPI_Count{made.addresses[i]}; };
  const std::size_t n = made.integers.empty() ? 0 : static_cast<std::size_t>(made.integers[0]);
  const MPI_Count element = bytes_of(1, made.types[0]);
  const auto lengths = [&](std::size_t i) { return number(1 + i); };
  const auto one_length = [&](std::size_t) { return number(1); };
  switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_CONTIGUOUS: return true;
    case MPI_COMBINER_VECTOR: return n <= 1 || number(2) == number(1);
    case MPI_COMBINER_HVECTOR: return n <= 1 || address(0) == number(1) * element;
    case MPI_COMBINER_INDEXED:
      return follow(
          n, lengths, [&](std::size_t i) { return number(1 + n + i); }, element, element);
    case MPI_COMBINER_HINDEXED: return follow(n, lengths, address, element, 1);
    case MPI_COMBINER_INDEXED_BLOCK:
      return follow(
          n, one_length, [&](std::size_t i) { return number(2 + i); }, element, element);
    case MPI_COMBINER_HINDEXED_BLOCK: return follow(n, one_length, address, element, 1);
    case MPI_COMBINER_STRUCT: {
      MPI_Count next = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (lengths(i) != 0 && address(i) != next) return false;
        next += lengths(i) * bytes_of(1, made.types[i]);
      }
      return true;
    }
    case MPI_COMBINER_SUBARRAY: {
      for (std::size_t i = 0; i < n; ++i)
        if (number(1 + i) != number(1 + n + i)) return false;
      return true;
    }
    default: return false;
  }
}

// Returns false if the datatype consists of one element of its old type. Gaps between elements do not matter
// then.
bool repeats(int combiner, const Arguments& made) noexcept {
  const bool once = combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_RESIZED ||
                    (combiner == MPI_COMBINER_CONTIGUOUS && !made.integers.empty() && made.integers[0] <= 1);
  return !once;
}

std::optional<Form> form_of(MPI_Datatype type) {
  if (const auto known = known_datatype(type)) return Form{*known, true};
  const Origin origin(type);
  if (origin.combiner == MPI_COMBINER_NAMED || origin.types == 0) return {};
  const Arguments made(type, origin);
  std::optional<Form> all;
  bool tight = true;
  for (const MPI_Datatype part : made.types) {
    const auto form = form_of(part);
    if (!form || (all && all->value_type != form->value_type)) return {};
    all = Form{form->value_type, form->packed && (!all || all->packed)};
    tight = tight && is_tight(part);
  }
  if (!all) return {};
  const bool look = all->packed && origin.large == 0 && (tight || !repeats(origin.combiner, made));
  all->packed = look && are_in_a_row(origin.combiner, made);
  return all;
}

// ---- Cache of layouts in an attribute of the datatype

extern "C" int keep(MPI_Datatype, int, void*, void* from, void* to, int* kept) {
  *static_cast<void**>(to) = from;
  *kept = 1;
  return MPI_SUCCESS;
}

extern "C" int forget(MPI_Datatype, int, void*, void*) { return MPI_SUCCESS; }

int keyval() noexcept {
  static const int made = [] {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(keep, forget, &key, nullptr);
    return key;
  }();
  return made;
}

// Encodes a layout as an attribute value, which is never null.
void* coded(const std::optional<DatatypeLayout>& elements) noexcept {
  std::uintptr_t code = 1;
  if (elements) {
    code |= static_cast<std::uintptr_t>(elements->type()) << 8;
    code |= elements->value_type.computes ? 2 : 0;
    code |= elements->dense ? 4 : 0;
    code |= 8;
  }
  return reinterpret_cast<void*>(code);
}

std::optional<DatatypeLayout> decoded(const void* attribute, MPI_Datatype type) noexcept {
  const auto code = reinterpret_cast<std::uintptr_t>(attribute);
  if ((code & 8) == 0) return {};
  const auto values = static_cast<DType>(code >> 8);
  const auto bytes = static_cast<std::size_t>(bytes_of(1, type));
  return DatatypeLayout{{values, (code & 2) != 0}, bytes / size_of(values), (code & 4) != 0};
}

// Returns the address as an integer, so that offsets can be added to MPI_BOTTOM too.
std::uintptr_t address(const void* base) noexcept { return reinterpret_cast<std::uintptr_t>(base); }

}  // namespace

MPI_Count bytes_of(MPI_Count count, MPI_Datatype type) {
  MPI_Count element = -1, bytes = -1;
  if (count < 0 || type == MPI_DATATYPE_NULL) return -1;
#if MPI_VERSION >= 4
  const int code = PMPI_Type_size_c(type, &element);
#else
  const int code = PMPI_Type_size_x(type, &element);
#endif
  if (code != MPI_SUCCESS || element < 0 || __builtin_mul_overflow(count, element, &bytes)) return -1;
  return bytes;
}

bool is_derived(MPI_Datatype type) {
  switch (Origin(type).combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:  // predefined types without a name (MPI-4.1 section 19.1.5)
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER: return false;
    default: return true;
  }
}

std::optional<DatatypeLayout> datatype_layout_of(MPI_Datatype type) {
  if (const auto known = known_datatype(type)) return DatatypeLayout{*known};
  if (!is_derived(type) || bytes_of(1, type) < 0) return {};
  void* attribute = nullptr;
  int found = 0;
  PMPI_Type_get_attr(type, keyval(), &attribute, &found);
  if (found != 0) return decoded(attribute, type);
  try {
    std::optional<DatatypeLayout> elements;
    if (const auto form = form_of(type)) {
      elements = DatatypeLayout{form->value_type, 1, form->packed && is_tight(type)};
    }
    attribute = coded(elements);
  } catch (const std::bad_alloc&) {
    return {};
  }
  PMPI_Type_set_attr(type, keyval(), attribute);
  return decoded(attribute, type);
}

bool on_device(const void* at, MPI_Datatype type) {
  MPI_Aint first = 0, extent = 0;
  if (is_derived(type)) PMPI_Type_get_true_extent(type, &first, &extent);
  return taut::on_device(reinterpret_cast<const void*>(address(at) + static_cast<std::uintptr_t>(first)));
}

// ---- Packing and unpacking

namespace {

// Elements as MPI_Pack and MPI_Unpack take them. MPICH 4.0 refuses MPI_BOTTOM there, a null pointer: these
// elements then begin at their first value, and have a datatype moved back by as much.
class Elements {
 public:
  Elements(std::uintptr_t at, MPI_Datatype type) noexcept : at_(at), type_(type) {
    MPI_Aint first = 0, extent = 0;
    if (at != address(MPI_BOTTOM)) return;
    PMPI_Type_get_true_extent(type, &first, &extent);
    const int one = 1;
    const MPI_Aint back = -first;
    if (first == 0 || PMPI_Type_create_hindexed(1, &one, &back, type, &moved_) != MPI_SUCCESS) return;
    PMPI_Type_commit(&moved_);
    at_ = static_cast<std::uintptr_t>(first);
    type_ = moved_;
  }
  Elements(const Elements&) = delete;
  ~Elements() {
    if (moved_ != MPI_DATATYPE_NULL) PMPI_Type_free(&moved_);
  }

  void* at() const noexcept { return reinterpret_cast<void*>(at_); }
  MPI_Datatype type() const noexcept { return type_; }

 private:
  std::uintptr_t at_;
  MPI_Datatype type_, moved_ = MPI_DATATYPE_NULL;
};

// Calls `work` for pieces of at most INT_MAX bytes, since MPI_Pack and MPI_Unpack of MPI 3 count bytes by an
// int.
template <class Work>
void in_pieces(const void* from, MPI_Count count, MPI_Datatype type, std::size_t room, Work work) {
  MPI_Aint least = 0, extent = 0;
  const MPI_Count element = bytes_of(1, type);
  PMPI_Type_get_extent(type, &least, &extent);
  if (element <= 0) return;
  const MPI_Count most = std::max<MPI_Count>(1, INT_MAX / element);
  for (MPI_Count done = 0; done < count; done += most) {
    const MPI_Count n = std::min(most, count - done);
    const auto first = static_cast<std::size_t>(done * element),
               bytes = static_cast<std::size_t>(n * element);
    const Elements elements(address(from) + static_cast<std::uintptr_t>(done * extent), type);
    if (first + bytes > room || work(elements, n, first, bytes) != MPI_SUCCESS)
      throw Error(Status::transport_failed, "MPI moved no values between a datatype and a row");
  }
}

}  // namespace

void pack_values(const void* from, MPI_Count count, MPI_Datatype type, Bytes to) {
  const auto pack = [&](const Elements& elements, MPI_Count n, std::size_t first, std::size_t bytes) {
    pmpi::Count position = 0;
    return TAUT_PMPI(Pack)(elements.at(), pmpi::count(n), elements.type(), to.data() + first,
                           static_cast<pmpi::Count>(bytes), &position, MPI_COMM_SELF);
  };
  in_pieces(from, count, type, to.size(), pack);
}

void unpack_values(ConstBytes from, void* to, MPI_Count count, MPI_Datatype type) {
  const auto unpack = [&](const Elements& elements, MPI_Count n, std::size_t first, std::size_t bytes) {
    pmpi::Count position = 0;
    return TAUT_PMPI(Unpack)(from.data() + first, static_cast<pmpi::Count>(bytes), &position, elements.at(),
                             pmpi::count(n), elements.type(), MPI_COMM_SELF);
  };
  in_pieces(to, count, type, from.size(), unpack);
}

}  // namespace taut::api
