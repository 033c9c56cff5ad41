// SPDX-License-Identifier: BSD-3-Clause
#include "bench/endpoint.h"

#include <cstdio>
#include <cstdlib>

namespace hocket::bench {
namespace {

hocket_type_t type_of(Element element) {
  switch (element) {
    case Element::kInt32:
      return HOCKET_INT32;
    case Element::kInt64:
      return HOCKET_INT64;
    case Element::kFloat:
      return HOCKET_FLOAT;
    case Element::kDouble:
      break;
  }
  return HOCKET_DOUBLE;
}

hocket_op_t op_of(Operation operation) {
  if (operation == Operation::kMin) return HOCKET_MIN;
  if (operation == Operation::kMax) return HOCKET_MAX;
  return HOCKET_SUM;
}

bool complain() {
  std::fprintf(stderr, "hocket: %s\n", hocket_error_text());
  return false;
}

}  // namespace

Endpoint::~Endpoint() {
  while (!comms_.empty()) {
    hocket_comm_destroy(comms_.back());
    comms_.pop_back();
  }
  if (context_ != nullptr) hocket_context_destroy(context_);
}

void Endpoint::Free::operator()(std::byte* memory) const { std::free(memory); }

bool Endpoint::open(const Options& options) { return open() && make_buffers(options); }

bool Endpoint::open() {
  hocket_context_options_t asked{};
  asked.struct_size = sizeof asked;
  asked.wire = wire_;
  if (hocket_context_create(&asked, &context_) != HOCKET_OK) return complain();
  return open_another() != nullptr;
}

hocket_comm_t* Endpoint::open_another() {
  const hocket_bootstrap_t bootstrap{world_.rank(), world_.size(),
                                     [](const void* send, void* receive, size_t bytes, void* user) {
                                       static_cast<World*>(user)->allgather(send, receive, bytes);
                                       return 0;
                                     },
                                     &world_};
  hocket_comm_t* comm = nullptr;
  if (hocket_comm_create(context_, &bootstrap, &comm) != HOCKET_OK) {
    complain();
    return nullptr;
  }
  comms_.push_back(comm);
  return comm;
}

bool Endpoint::make_buffers(const Options& options) {
  const size_t bytes = buffer_bytes(options, world_.size());
  if (options.shared_memory) {
    void* memory = nullptr;
    if (hocket_alloc(context_, 2 * bytes, &memory) != HOCKET_OK) return complain();
    buffers_ = {static_cast<std::byte*>(memory), static_cast<std::byte*>(memory) + bytes};
    return true;
  }
  plain_.reset(static_cast<std::byte*>(std::aligned_alloc(64, 2 * bytes)));
  buffers_ = {plain_.get(), plain_.get() + bytes};
  return plain_ != nullptr;
}

HocketVariant::HocketVariant(Endpoint& endpoint, const Options& options, std::string spec, hocket_comm_t* comm)
    : comm_(comm != nullptr ? comm : endpoint.comm()),
      type_(type_of(options.element)),
      op_(op_of(options.operation)),
      spec_(std::move(spec)),
      blocks_(endpoint.ranks()) {}

std::string HocketVariant::activate(Collective collective) {
  if (!forces_) return {};
  const std::string collective_name(schedule::name(collective));
  const char* forced = spec_.empty() ? nullptr : spec_.c_str();
  return hocket_force(comm_, collective_name.c_str(), forced) == HOCKET_OK ? "" : hocket_error_text();
}

int HocketVariant::run(const Call& call) {
  if (call.collective == schedule::Collective::kBarrier) return hocket_barrier(comm_);
  if (schedule::is_vector(call.collective)) blocks_.set(call.count);
  return schedule::combines(call.collective) ? run_combining(call) : run_moving(call);
}

int HocketVariant::run_moving(const Call& call) {
  const auto& [collective, input, output, count, root] = call;
  const size_t* const counts = blocks_.counts();
  const size_t* const displacements = blocks_.displacements();
  switch (collective) {
    case schedule::Collective::kGather:
      return hocket_gather(comm_, input, output, count, HOCKET_BYTE, root);
    case schedule::Collective::kGatherv:
      return hocket_gatherv(comm_, input, count, output, counts, displacements, HOCKET_BYTE, root);
    case schedule::Collective::kScatter:
      return hocket_scatter(comm_, input, output, count, HOCKET_BYTE, root);
    case schedule::Collective::kScatterv:
      return hocket_scatterv(comm_, input, counts, displacements, output, count, HOCKET_BYTE, root);
    case schedule::Collective::kAllgather:
      return hocket_allgather(comm_, input, output, count, HOCKET_BYTE);
    case schedule::Collective::kAllgatherv:
      return hocket_allgatherv(comm_, input, output, counts, displacements, HOCKET_BYTE);
    case schedule::Collective::kAlltoall:
      return hocket_alltoall(comm_, input, output, count, HOCKET_BYTE);
    case schedule::Collective::kAlltoallv:
      return hocket_alltoallv(comm_, input, counts, displacements, output, counts, displacements, HOCKET_BYTE);
    default:
      return hocket_broadcast(comm_, output, count, HOCKET_BYTE, root);
  }
}

int HocketVariant::run_combining(const Call& call) {
  const auto& [collective, input, output, count, root] = call;
  switch (collective) {
    case schedule::Collective::kReduce:
      return hocket_reduce(comm_, input, output, count, type_, op_, root);
    case schedule::Collective::kReduceScatterBlock:
      return hocket_reduce_scatter_block(comm_, input, output, count, type_, op_);
    case schedule::Collective::kReduceScatter:
      return hocket_reduce_scatter(comm_, input, output, blocks_.counts(), type_, op_);
    case schedule::Collective::kScan:
      return hocket_scan(comm_, input, output, count, type_, op_);
    case schedule::Collective::kExscan:
      return hocket_exscan(comm_, input, output, count, type_, op_);
    default:
      return hocket_allreduce(comm_, input, output, count, type_, op_);
  }
}

std::string HocketVariant::error(int) const { return hocket_error_text(); }

}  // namespace hocket::bench
