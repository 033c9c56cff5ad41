// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local: by hocket's kernels where they know the type and the operation.
#include <climits>

#include "c_api/internal/call.h"
#include "core/devices/device_memory.h"
#include "shim/job/job.h"
#include "shim/types/operations.h"
#include "shim/underneath/handles.h"
#include "shim/wrappers/wrappers.h"

using namespace hocket::interposer;

namespace {

struct LocalReduction {
  const void* input;
  void* inout;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
};

// kCarriedOut, or why it is the MPI's.
Outcome reduce_here(const LocalReduction& call) {
  const TypeFacts* const facts = find_type(call.type);
  if (facts == nullptr || call.count < 0 || call.input == call.inout) return Outcome::kArguments;
  const bool are_there = call.input != nullptr && call.inout != nullptr && call.input != MPI_IN_PLACE;
  if (call.count != 0 && !are_there) return Outcome::kArguments;
  const auto count = static_cast<size_t>(call.count);
  const Operation operation = find_operation(call.op, call.type, *facts, handles.comm_self, count);
  if (operation.by == Operation::By::kInvalid) return Outcome::kArguments;
  if (operation.by == Operation::By::kUndefined) return Outcome::kUnsupported;
  if (operation.by == Operation::By::kMpi) return Outcome::kOwnOperation;
  const size_t bytes = count * static_cast<size_t>(facts->extent);
  if (device::may_be_there() && (device::needs_staging(call.input, bytes) || device::needs_staging(call.inout, bytes)))
    return Outcome::kDeviceMemory;
  hocket::c_api::Arguments arguments;
  set_operation(operation, *facts, arguments);
  arguments.combiner(call.input, call.inout, call.inout, count);
  return Outcome::kCarriedOut;
}

template <typename PassThrough>
int reduce_locally(const LocalReduction& call, const PassThrough& pass_through) {
  if (!is_ours(Collective::kReduceLocal)) return pass_through();
  const Outcome outcome = reduce_here(call);
  common_counters.add(Collective::kReduceLocal, outcome);
  if (outcome == Outcome::kCarriedOut) return MPI_SUCCESS;
  const NestedCall nested;
  return pass_through();
}

}  // namespace

HOCKET_WRAP_COLLECTIVE(Reduce_local, (const void* input, void* inout, int count, MPI_Datatype type, MPI_Op op),
                       (input, inout, count, type, op),
                       reduce_locally(LocalReduction{input, inout, count, type, op}, pass_through))

#if HOCKET_HAS_COUNT_FUNCTIONS
// An MPI that is older than those with MPI_Count has the other only.
#define HOCKET_WRAP_REDUCE_LOCAL(prefix, next)                                                                       \
  HOCKET_EXPORT int prefix##Reduce_local_c(const void* input, void* inout, MPI_Count count, MPI_Datatype type,       \
                                           MPI_Op op) {                                                              \
    return reduce_locally(LocalReduction{input, inout, count, type, op}, [&] {                                       \
      if (const auto function = next().Reduce_local_c; function != nullptr)                                          \
        return function(input, inout, count, type, op);                                                              \
      return count > INT_MAX ? MPI_ERR_COUNT : next().Reduce_local(input, inout, static_cast<int>(count), type, op); \
    });                                                                                                              \
  }
HOCKET_WRAP_REDUCE_LOCAL(MPI_, next_mpi)
HOCKET_WRAP_REDUCE_LOCAL(PMPI_, next_pmpi)
#endif
