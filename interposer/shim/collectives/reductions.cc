// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/reductions.h"

#include <algorithm>

#include "shim/buffers/device_transfer.h"
#include "shim/buffers/packed_blocks.h"
#include "shim/buffers/packing.h"
#include "shim/buffers/pieces.h"

namespace hocket::interposer {
namespace {

using ReduceFindings = ReduceCall::Findings;

// All ranks see all counts. False: the arguments look wrong.
bool measure_parts(const ReduceCall& call, Communicator& communicator, ReduceFindings& findings) {
  if (!call.counts.is_there()) return false;
  size_t* const counts = numbers_of(communicator);
  if (counts == nullptr) end_without_memory(communicator.size * sizeof *counts, "for counts");
  bool are_equal = true;
  findings.operand = 0;
  for (int i = 0; i < communicator.size; ++i) {
    const int64_t count = call.counts[i];
    if (count < 0) return false;
    counts[i] = static_cast<size_t>(count);
    are_equal = are_equal && counts[i] == counts[0];
    if (__builtin_add_overflow(findings.operand, counts[i], &findings.operand)) return false;
  }
  findings.result = counts[communicator.rank];
  findings.counts = are_equal ? nullptr : counts;
  return true;
}

bool measure(const ReduceCall& call, Communicator& communicator, ReduceFindings& findings) {
  const auto count = static_cast<size_t>(call.count);
  findings.operand = findings.result = count;
  findings.counts = nullptr;
  switch (call.collective) {
    case Collective::kReduce:
      if (call.root != communicator.rank) findings.result = 0;
      break;
    case Collective::kReduceScatterBlock:
      if (__builtin_mul_overflow(count, static_cast<size_t>(communicator.size), &findings.operand)) return false;
      break;
    case Collective::kReduceScatter:
      if (!measure_parts(call, communicator, findings)) return false;
      break;
    case Collective::kExscan:
      if (communicator.rank == 0) findings.result = 0;
      break;
    default:
      break;
  }
  ptrdiff_t bytes = 0;  // more than that no memory can hold
  return !__builtin_mul_overflow(findings.operand, findings.facts->size, &bytes);
}

bool are_buffers(const ReduceCall& call, const Communicator& communicator, ReduceFindings& findings) {
  const bool is_empty = findings.operand == 0;
  const bool is_bystander = call.collective == Collective::kReduce && call.root != communicator.rank;
  findings.is_in_place = call.input == MPI_IN_PLACE;
  if (findings.is_in_place && is_bystander) return false;
  if (!findings.is_in_place && !is_buffer(call.input, is_empty, *findings.facts)) return false;
  if (is_bystander) return true;
  const bool uses_output = findings.is_in_place ? !is_empty : findings.result != 0;
  if (!is_buffer(call.output, !uses_output, *findings.facts)) return false;
  if (call.input == call.output && !is_empty && call.input != nullptr) {
    if (same_buffer_is_refused()) return false;
    findings.is_in_place = true;
  }
  return true;
}

bool has_blocks(const ReduceCall& call) {
  return call.collective == Collective::kReduceScatterBlock || call.collective == Collective::kReduceScatter;
}

bool has_unequal_blocks(const ReduceCall& call, const ReduceFindings& findings) {
  return call.collective == Collective::kReduceScatter && findings.counts != nullptr;
}

schedule::Collective collective_of(const ReduceCall& call, const ReduceFindings& findings) {
  return has_blocks(call) && !has_unequal_blocks(call, findings) ? schedule::Collective::kReduceScatterBlock
                                                                 : hocket_collective(call.collective);
}

Waiting waiting(const ReduceCall& call, const Communicator& communicator, const ReduceFindings& findings) {
  const auto all_if = [](bool all_wait) { return all_wait ? Waiting::kAll : Waiting::kNotAll; };
  switch (call.collective) {
    case Collective::kAllreduce:
    case Collective::kReduceScatterBlock:
      return all_if(findings.operand * findings.facts->size != 0);
    case Collective::kReduceScatter:
      // A rank that gets nothing need not wait.
      return all_if(findings.facts->size != 0 &&
                    (findings.counts == nullptr ? findings.result != 0 : have_all(findings.counts, communicator.size)));
    default:
      return Waiting::kNotAll;
  }
}

hocket_status_t run(const ReduceCall& call, const Decision& decision, const ReduceFindings& findings, const void* input,
                    void* output, OnDemand* on_demand = nullptr) {
  Arguments arguments;
  const hocket_status_t status = fill(call, decision, findings, input, output, arguments);
  if (status != HOCKET_OK) [[unlikely]]
    return status;
  arguments.on_demand = on_demand;
  return c_api::run(decision.communicator->comm, arguments);
}

// The program's memory on either side, as far as it means something on this rank.
Elements operand_of(const ReduceCall& call, const ReduceFindings& findings) {
  return {findings.is_in_place ? call.output : call.input, findings.operand, call.type, findings.facts};
}
Elements result_of(const ReduceCall& call, const ReduceFindings& findings) {
  return {call.output, findings.result, call.type, findings.facts};
}

bool needs_staging(const Elements& elements) { return device::needs_staging(elements.first_byte(), elements.bytes()); }

__attribute__((cold)) bool may_need_staging(const ReduceCall& call, const ReduceFindings& findings) {
  return needs_staging(operand_of(call, findings)) || needs_staging(result_of(call, findings));
}

bool needs_staging(const ReduceCall& call, const ReduceFindings& findings) {
  return device::may_be_there() && may_need_staging(call, findings);
}

// On copies of what only a driver reaches, as it lies: hocket's kernels know the layouts of types with gaps.
__attribute__((cold)) int reduce_staged_by_kernel(const ReduceCall& call, const Decision& decision,
                                                  const ReduceFindings& findings) {
  const NotesStaged notes(decision.communicator->trial);
  const auto stride = static_cast<size_t>(findings.facts->extent);
  const Elements from = operand_of(call, findings), to = result_of(call, findings);
  Packed input(Packed::Use::kInput, call.comm), output(Packed::Use::kOutput, call.comm);
  const void* operand = from.buffer;
  void* result = call.output;
  if (needs_staging(from)) {
    Packed& room = findings.is_in_place ? output : input;
    room.make_room(from.count * stride);
    operand = room.bytes();
    const int error = copy_from_device(from.buffer, room.bytes(), from.count * stride, call.comm);
    if (error != MPI_SUCCESS) return give_up(decision, call.collective, error, kPackingFailed);
  }
  if (needs_staging(to) && output.bytes() == nullptr) output.make_room(to.count * stride);
  const bool is_result_staged = output.bytes() != nullptr;
  if (is_result_staged) result = output.bytes();
  const hocket_status_t status = run(call, decision, findings, operand, result);
  int error = MPI_SUCCESS;
  if (status == HOCKET_OK && is_result_staged) {
    error = copy_to_device(result, call.output, to.count * stride, call.comm);
  }
  return answer(decision, call.collective, call.comm, status, error);
}

int reduce_by_kernel(const ReduceCall& call, const Decision& decision, const ReduceFindings& findings) {
  if (needs_staging(call, findings)) [[unlikely]]
    return reduce_staged_by_kernel(call, decision, findings);
  const hocket_status_t status = run(call, decision, findings, call.input, call.output);
  return answer(decision, call.collective, call.comm, status);
}

struct Ending {
  hocket_status_t status = HOCKET_OK;
  int packing_error = MPI_SUCCESS, unpacking_error = MPI_SUCCESS;

  // What can't be unpacked here doesn't keep this rank from the rest, for which peers wait.
  bool may_go_on() const { return status == HOCKET_OK && packing_error == MPI_SUCCESS; }
};

Ending reduce_dense_by_mpi(const ReduceCall& call, const Decision& decision, const ReduceFindings& findings) {
  const TypeFacts& facts = *findings.facts;
  const bool has_output = findings.is_in_place || findings.result != 0;
  const void* input = findings.is_in_place ? nullptr : static_cast<const char*>(call.input) + facts.true_lb;
  void* output = has_output ? static_cast<char*>(call.output) + facts.true_lb : nullptr;
  return {run(call, decision, findings, input, output)};
}

// The elements as opaque bytes; the gaps of the user's buffers stay untouched.
Ending reduce_packed_by_mpi(const ReduceCall& call, const Decision& decision, const ReduceFindings& findings) {
  const NotesStaged notes(decision.communicator->trial);
  const Elements from = operand_of(call, findings), to = result_of(call, findings);
  Packed input(Packed::Use::kInput, call.comm), output(Packed::Use::kOutput, call.comm);
  output.make_room(findings.is_in_place ? from.bytes() : to.bytes());
  if (!findings.is_in_place) input.make_room(from.bytes());
  Packed& operand = findings.is_in_place ? output : input;
  const auto reduce = [&](OnDemand* on_demand) {
    return run(call, decision, findings, input.bytes(), output.bytes(), on_demand);
  };
  hocket_status_t status = HOCKET_OK;
  if (!findings.is_in_place && PackedOnDemand::is_worth_while(decision.communicator->comm, from.bytes())) {
    PackedBlocks block(input, from);
    PackedOnDemand on_demand(&block, nullptr);
    status = reduce(&on_demand);
  } else {
    operand.pack_at(0, from);
    if (operand.error() == MPI_SUCCESS) status = reduce(nullptr);
  }
  if (operand.error() != MPI_SUCCESS) return {HOCKET_OK, operand.error()};
  if (status == HOCKET_OK && last_operation_error() == MPI_SUCCESS) output.unpack_at(0, to);
  return {status, MPI_SUCCESS, output.error()};
}

// One piece after the other where a call can be cut.
Ending reduce_in_pieces(const ReduceCall& call, const Decision& decision, const ReduceFindings& findings) {
  const TypeFacts& facts = *findings.facts;
  const bool lies_ready = facts.is_dense_array(findings.operand) && !needs_staging(call, findings);
  const auto reduce = lies_ready ? reduce_dense_by_mpi : reduce_packed_by_mpi;
  const bool is_cut_otherwise =
      call.collective == Collective::kReduceScatterBlock || call.collective == Collective::kReduceScatter;
  if (findings.operand * facts.size <= kLongestWhole || is_cut_otherwise) return reduce(call, decision, findings);
  const size_t at_once = std::max<size_t>(piece_of(findings.operand * facts.size) / facts.size, 1);
  ReduceCall part = call;
  ReduceFindings part_findings = findings;
  Ending ending;
  for (size_t done = 0; done < findings.operand && ending.may_go_on(); done += at_once) {
    part_findings.operand = std::min(at_once, findings.operand - done);
    part_findings.result = findings.result != 0 ? part_findings.operand : 0;
    const MPI_Aint distance = static_cast<MPI_Aint>(done) * facts.extent;
    if (!findings.is_in_place) part.input = static_cast<const char*>(call.input) + distance;
    if (findings.is_in_place || findings.result != 0) part.output = static_cast<char*>(call.output) + distance;
    const int earlier = ending.unpacking_error;
    ending = reduce(part, decision, part_findings);
    if (earlier != MPI_SUCCESS) ending.unpacking_error = earlier;
  }
  return ending;
}

int reduce_by_mpi(const ReduceCall& call, const Decision& decision, const ReduceFindings& findings) {
  if (findings.facts->size == 0) return answer(decision, call.collective, call.comm, HOCKET_OK);
  const Ending ending = reduce_in_pieces(call, decision, findings);
  if (ending.packing_error != MPI_SUCCESS) {
    return give_up(decision, call.collective, ending.packing_error, kPackingFailed);
  }
  const int error = last_operation_error();
  // Peers may have a wrong result by then.
  if (ending.status == HOCKET_OK && error != MPI_SUCCESS) {
    return give_up(decision, call.collective, error, "the operation failed");
  }
  return answer(decision, call.collective, call.comm, ending.status, ending.unpacking_error);
}

// Inline: by a call of its own a blocking one of one rank takes 2 ns longer.
inline std::optional<OwnCopy> find_own_copy(const ReduceCall& call, const ReduceFindings& findings) {
  if (findings.is_in_place || findings.result * findings.facts->size == 0) return std::nullopt;
  const Elements from = operand_of(call, findings), to = result_of(call, findings);
  return OwnCopy{from, to, from.is_dense() && !needs_staging(call, findings)};
}

}  // namespace

std::optional<OwnCopy> own_copy(const ReduceCall& call, const ReduceFindings& findings) {
  return find_own_copy(call, findings);
}

Decision decide(const ReduceCall& call, ReduceFindings& findings, CallForm form) {
  Decision decision;
  if (!find_open_communicator(call.comm, decision)) return decision;
  Communicator& communicator = *decision.communicator;
  if (call.count < 0 || call.root < 0 || call.root >= communicator.size) return decision;
  findings.facts = find_type(call.type);
  if (findings.facts == nullptr || !measure(call, communicator, findings)) return decision;
  if (!are_buffers(call, communicator, findings)) return decision;
  findings.operation = find_operation(call.op, call.type, *findings.facts, call.comm, findings.operand);
  const Operation::By by = findings.operation.by;
  if (by == Operation::By::kInvalid) return decision;
  // The ranks of a reduction have the same type, so all of them find the same.
  if (by == Operation::By::kUndefined) {
    decision.why = Outcome::kUnsupported;
  } else if (by == Operation::By::kMpi && communicator.phase != Phase::kAlone &&
             findings.facts->size > HOCKET_MAX_COMBINED_BYTES) {
    decision.why = Outcome::kLongElements;
  } else {
    decision.why = readiness(communicator, call.comm, form, [&] { return waiting(call, communicator, findings); });
  }
  return decision;
}

RuleKey rule_key_of(const ReduceCall& call, const Communicator& communicator, const ReduceFindings& findings) {
  size_t elements = findings.operand;
  if (has_blocks(call)) elements = findings.result;
  if (has_unequal_blocks(call, findings))
    elements = *std::max_element(findings.counts, findings.counts + communicator.size);
  return {collective_of(call, findings), elements * findings.facts->size};
}

hocket_status_t fill(const ReduceCall& call, const Decision& decision, const ReduceCall::Findings& findings,
                     const void* input, void* output, Arguments& arguments) {
  const bool is_vector = has_unequal_blocks(call, findings), gives_blocks = has_blocks(call);
  arguments.collective = collective_of(call, findings);
  arguments.root = static_cast<uint32_t>(call.root);
  set_operation(findings.operation, *findings.facts, arguments);
  arguments.count = gives_blocks ? findings.result : findings.operand;
  if (is_vector) arguments.input_blocks = {findings.counts, nullptr};
  if (findings.is_in_place || findings.result != 0) arguments.output = static_cast<std::byte*>(output);
  if (findings.is_in_place) {
    set_in_place(arguments, static_cast<uint32_t>(decision.communicator->rank));
    return HOCKET_OK;
  }
  arguments.input = static_cast<const std::byte*>(input);
  const size_t element = arguments.combiner.element_bytes;
  return c_api::check_apart(arguments, findings.operand * element, findings.result * element);
}

int carry_out(const ReduceCall& call, const Decision& decision, const ReduceFindings& findings) {
  if (decision.why == Outcome::kSingleRank) return copy_alone(call, decision, find_own_copy(call, findings));
  if (findings.operation.by == Operation::By::kMpi) return reduce_by_mpi(call, decision, findings);
  return reduce_by_kernel(call, decision, findings);
}

}  // namespace hocket::interposer
