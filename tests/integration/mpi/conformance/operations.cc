// SPDX-License-Identifier: BSD-3-Clause
#include "operations.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace conformance {
namespace {

std::mutex operands_lock;
std::vector<const Layout*> all_operands;
std::atomic<int> foreign = 0;

const Layout* find_operands(MPI_Datatype type) {
  const std::lock_guard lock(operands_lock);
  for (const Layout* layout : all_operands) {
    if (layout->type == type) return layout;
  }
  return nullptr;
}

template <class T>
void add(const unsigned char* left, unsigned char* inout) {
  T a, b;
  std::memcpy(&a, left, sizeof a);
  std::memcpy(&b, inout, sizeof b);
  b = static_cast<T>(a + b);
  std::memcpy(inout, &b, sizeof b);
}

void add_all(const unsigned char* left, unsigned char* inout, size_t size, size_t length) {
  for (size_t i = 0; i < length * size; i += size) {
    if (size == 8) {
      add<uint64_t>(left + i, inout + i);
    } else {
      add<uint32_t>(left + i, inout + i);
    }
  }
}

void keep_left(const unsigned char* left, unsigned char* inout, size_t size, size_t length) {
  std::memcpy(inout, left, size * length);
}

void keep_right(const unsigned char*, unsigned char*, size_t, size_t) {}

void multiply_matrices(const unsigned char* left, unsigned char* inout, size_t, size_t) {
  uint32_t a[4], b[4];
  std::memcpy(a, left, sizeof a);
  std::memcpy(b, inout, sizeof b);
  const uint32_t product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],  //
                               a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
  std::memcpy(inout, product, sizeof product);
}

// What the MPI calls: operands in the program's layout.
template <CombineSequence combine>
void combine_instances(const void* in, void* inout, int64_t count, MPI_Datatype type) {
  const Layout* operands = find_operands(type);
  if (operands == nullptr) {
    ++foreign;
    return;
  }
  const std::vector<MPI_Aint>& places = operands->places;
  const size_t size = operands->elements[0]->size;
  std::vector<unsigned char> a(size * places.size()), b(a.size());
  for (int64_t instance = 0; instance < count; ++instance) {
    const auto* left = static_cast<const unsigned char*>(in) + instance * operands->extent;
    auto* right = static_cast<unsigned char*>(inout) + instance * operands->extent;
    for (size_t i = 0; i < places.size(); ++i) {
      std::memcpy(&a[i * size], left + places[i], size);
      std::memcpy(&b[i * size], right + places[i], size);
    }
    combine(a.data(), b.data(), size, places.size());
    for (size_t i = 0; i < places.size(); ++i) std::memcpy(right + places[i], &b[i * size], size);
  }
}

template <CombineSequence combine>
void small_callback(void* in, void* inout, int* count, MPI_Datatype* type) {
  combine_instances<combine>(in, inout, *count, *type);
}

template <CombineSequence combine>
MPI_Op make(bool commutes) {
  MPI_Op op;
  MPI_Op_create(small_callback<combine>, commutes ? 1 : 0, &op);
  return op;
}

#if MPI_VERSION >= 4
template <CombineSequence combine>
void large_callback(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
  combine_instances<combine>(in, inout, *count, *type);
}

template <CombineSequence combine>
MPI_Op make_large(bool commutes) {
  MPI_Op op;
  MPI_Op_create_c(large_callback<combine>, commutes ? 1 : 0, &op);
  return op;
}
#endif

constexpr unsigned bit(Class element_class) { return 1u << static_cast<int>(element_class); }

std::vector<Operation> make_operations() {
  const unsigned integers = bit(Class::kInteger) | bit(Class::kAddress) | bit(Class::kFortranInteger);
  const unsigned numbers = integers | bit(Class::kFloat);
  const unsigned bits = integers | bit(Class::kByte);
  const unsigned truths = bit(Class::kInteger) | bit(Class::kBool) | bit(Class::kFortranLogical);
  const unsigned complex = bit(Class::kComplex);
  std::vector<Operation> all = {
      {"sum", MPI_SUM, numbers | complex, Values::kSum, nullptr, false},
      {"prod", MPI_PROD, numbers | complex, Values::kProduct, nullptr, false},
      {"min", MPI_MIN, numbers, Values::kOrder, nullptr, false},
      {"max", MPI_MAX, numbers, Values::kOrder, nullptr, false},
      {"land", MPI_LAND, truths, Values::kTruth, nullptr, false},
      {"lor", MPI_LOR, truths, Values::kTruth, nullptr, false},
      {"lxor", MPI_LXOR, truths, Values::kTruth, nullptr, false},
      {"band", MPI_BAND, bits, Values::kBits, nullptr, false},
      {"bor", MPI_BOR, bits, Values::kBits, nullptr, false},
      {"bxor", MPI_BXOR, bits, Values::kBits, nullptr, false},
      {"minloc", MPI_MINLOC, bit(Class::kPair), Values::kPlace, nullptr, false},
      {"maxloc", MPI_MAXLOC, bit(Class::kPair), Values::kPlace, nullptr, false},
      {"user_sum", make<add_all>(true), 0, Values::kBits, add_all, false},
      {"user_sum_in_order", make<add_all>(false), 0, Values::kBits, add_all, false},
      {"user_left", make<keep_left>(false), 0, Values::kBits, keep_left, false},
      {"user_right", make<keep_right>(false), 0, Values::kBits, keep_right, false},
      {"user_matrix", make<multiply_matrices>(false), 0, Values::kBits, multiply_matrices, true}};
#if MPI_VERSION >= 4
  all.push_back({"user_sum_large", make_large<add_all>(true), 0, Values::kBits, add_all, false});
  all.push_back({"user_matrix_large", make_large<multiply_matrices>(false), 0, Values::kBits, multiply_matrices, true});
#endif
  return all;
}

std::vector<Operation>& list() {
  static std::vector<Operation> all = make_operations();
  return all;
}

// Not all MPIs know which integers have a sign, so their MPI_Reduce_local is no help here.
void fold_extremes(const Element& element, bool is_minimum, const unsigned char* left, unsigned char* inout,
                   int64_t count) {
  for (int64_t i = 0; i < count; ++i, left += element.size, inout += element.size) {
    if (element.is_less(left, inout) == is_minimum) std::memcpy(inout, left, element.size);
  }
}

}  // namespace

const std::vector<Operation>& operations() { return list(); }

const Operation& operation(const char* name) {
  for (const Operation& candidate : list()) {
    if (std::strcmp(candidate.name, name) == 0) return candidate;
  }
  std::fprintf(stderr, "no operation is called %s\n", name);
  std::exit(3);
}

void free_operations() {
  for (Operation& each : list()) {
    if (!each.is_predefined()) MPI_Op_free(&each.op);
  }
}

void expect_operands(const Layout* layout) {
  const std::lock_guard lock(operands_lock);
  if (layout != nullptr) all_operands.push_back(layout);
}

void forget_operands() {
  const std::lock_guard lock(operands_lock);
  all_operands.clear();
}

int foreign_operands() { return foreign; }

void fold(const Operation& operation, const Family& family, unsigned char* left, unsigned char* inout,
          int64_t sequences) {
  if (sequences == 0 || family.empty()) return;
  const size_t size = family[0]->size;
  if (operation.is_predefined()) {
    const int64_t count = sequences * static_cast<int64_t>(family.size());
    if (operation.values == Values::kOrder && family[0]->is_less != nullptr) {
      return fold_extremes(*family[0], operation.op == MPI_MIN, left, inout, count);
    }
    MPI_Reduce_local(left, inout, static_cast<int>(count), family[0]->type, operation.op);
    return;
  }
  const size_t stride = size * family.size();
  for (size_t i = 0; i < static_cast<size_t>(sequences); ++i) {
    operation.combine(left + i * stride, inout + i * stride, size, family.size());
  }
}

}  // namespace conformance
