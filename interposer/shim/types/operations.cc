// SPDX-License-Identifier: BSD-3-Clause
#include "shim/types/operations.h"

#include <algorithm>

#include "base/thread_owned.h"
#include "shim/job/job.h"
#include "shim/scratch.h"
#include "shim/underneath/handle_map.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

HandleMap<MPI_Op, int, 6> named_ops;

// What combine() below needs to know of the call that its thread is in.
struct MpiCombination {
  MPI_Op op;
  MPI_Datatype type;
  MPI_Comm comm;
  const TypeFacts* facts;
  bool dense;
  int error;
  Scratch input, output;
};

// Elements in user layout that are unpacked at a time.
constexpr size_t kUnpackedBytes = 65536;

void note(MpiCombination& self, int error) {
  if (error != MPI_SUCCESS) self.error = error;
}

void combine_dense(MpiCombination& self, const unsigned char* in, unsigned char* inout, size_t count) {
  note(self, next_pmpi().Reduce_local(in - self.facts->true_lb, inout - self.facts->true_lb, static_cast<int>(count),
                                      self.type, self.op));
}

// `in` and `inout` hold packed elements; the operation wants them as the type lays them out.
void combine_packed(MpiCombination& self, const unsigned char* in, unsigned char* inout, size_t count) {
  const TypeFacts& facts = *self.facts;
  // An element may reach beyond its extent on either side: true_lb on the left, its true extent on the right.
  MPI_Aint lb = 0, extent = 0;
  if (const int error = next_pmpi().Type_get_true_extent(self.type, &lb, &extent); error != MPI_SUCCESS) {
    return note(self, error);
  }
  const size_t stride = static_cast<size_t>(std::max<MPI_Aint>(facts.extent < 0 ? -facts.extent : facts.extent, 1));
  const size_t at_once = std::min(count, std::max<size_t>(kUnpackedBytes / stride, 1));
  const size_t room = stride * (at_once - 1) + static_cast<size_t>(extent);
  unsigned char* a = self.input.reserve(room);
  unsigned char* b = self.output.reserve(room);
  // Without this rank's part the others would take a wrong result for a good one.
  if (a == nullptr || b == nullptr) end_without_memory(2 * room, "to unpack data for an operation");
  // With a negative extent the elements go downwards from the end of the room.
  const MPI_Aint first = (facts.extent < 0 ? static_cast<MPI_Aint>(stride * (at_once - 1)) : 0) - lb;
  for (size_t done = 0; done < count; done += at_once) {
    const int elements = static_cast<int>(std::min(at_once, count - done));
    const int bytes = static_cast<int>(elements * facts.size);
    const unsigned char* packed_in = in + done * facts.size;
    unsigned char* packed_inout = inout + done * facts.size;
    int position = 0;
    note(self, next_pmpi().Unpack(packed_in, bytes, &position, a + first, elements, self.type, self.comm));
    position = 0;
    note(self, next_pmpi().Unpack(packed_inout, bytes, &position, b + first, elements, self.type, self.comm));
    note(self, next_pmpi().Reduce_local(a + first, b + first, elements, self.type, self.op));
    position = 0;
    note(self, next_pmpi().Pack(b + first, elements, self.type, packed_inout, bytes, &position, self.comm));
  }
}

// The hocket_op_function_t for all operations of the MPI and of the user.
void combine(const void* in, void* inout, size_t count, hocket_type_t, void* user) {
  auto& self = *static_cast<MpiCombination*>(user);
  const auto* input = static_cast<const unsigned char*>(in);
  auto* output = static_cast<unsigned char*>(inout);
  self.dense ? combine_dense(self, input, output, count) : combine_packed(self, input, output, count);
}

// A thread is in one blocking call at a time.
MpiCombination& mine() { return ThreadOwned<MpiCombination>::get(); }

Operation by_mpi(MPI_Op op, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm, size_t count,
                 bool is_commutative) {
  MpiCombination& combination = mine();
  combination.op = op;
  combination.type = type;
  combination.comm = comm;
  combination.facts = &facts;
  combination.dense = facts.is_dense_array(count);
  combination.error = MPI_SUCCESS;
  return {Operation::By::kMpi, nullptr, is_commutative};
}

MPI_Op named_operation(hocket_op_t wanted) {
  for (const NamedOp& op : native_ops()) {
    if (op.index == op_index(wanted)) return op.handle;
  }
  return handles.op_null;
}

}  // namespace

Operation find_operation(MPI_Op op, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm, size_t count) {
  constexpr Operation kUndefined{Operation::By::kUndefined, nullptr, true};
  if (const int* index = named_ops.find(op)) [[likely]] {
    const uint16_t bit = static_cast<uint16_t>(1u << *index);
    if (*index == 0) return kUndefined;
    if ((facts.hocket_ops & bit) != 0) {
      return {Operation::By::kHocket, reinterpret_cast<hocket_op_t>(static_cast<intptr_t>(*index)), true};
    }
    if ((facts.mpi_ops & bit) != 0) return by_mpi(op, type, facts, comm, count, true);
    return kUndefined;
  }
  if (op == handles.op_null) return {};
  if (is_builtin_operation(op)) return kUndefined;
  int is_commutative = 0;
  if (next_pmpi().Op_commutative(op, &is_commutative) != MPI_SUCCESS) return {};
  return by_mpi(op, type, facts, comm, count, is_commutative != 0);
}

void set_operation(const Operation& operation, const TypeFacts& facts, c_api::Arguments& arguments) {
  if (operation.by == Operation::By::kHocket) [[likely]]
    return c_api::set_kernel(operation.op, facts.hocket_type, arguments);
  arguments.combiner.function = combine;
  arguments.combiner.user = &mine();
  arguments.combiner.type = HOCKET_TYPE_OPAQUE(facts.size);
  arguments.combiner.element_bytes = facts.size;
  arguments.combiner.commutative = operation.is_commutative;
}

int last_operation_error() { return mine().error; }

MPI_Op sum_operation() { return named_operation(HOCKET_SUM); }
MPI_Op minimum_operation() { return named_operation(HOCKET_MIN); }

void fill_operations() {
  for (const NamedOp& op : native_ops()) {
    if (op.handle != MPI_Op{}) named_ops.insert(op.handle, op.index);
  }
}

}  // namespace hocket::interposer
