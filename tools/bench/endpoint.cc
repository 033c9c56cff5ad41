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
  switch (operation) {
    case Operation::kSum:
      return HOCKET_SUM;
    case Operation::kMin:
      return HOCKET_MIN;
    case Operation::kMax:
      return HOCKET_MAX;
    default:
      return nullptr;  // measured nowhere; hocket refuses it
  }
}

// Calls a function of the C API with what a benchmark passes: one operator for each form that such functions have.
struct Caller {
  using Comm = hocket_comm_t*;
  using Type = hocket_type_t;
  using Op = hocket_op_t;
  using Counts = const size_t*;

  const Call& call;
  Comm comm;
  Type type;
  Op op;
  Counts counts, sent, received, at;

  int operator()(hocket_status_t (*barrier)(Comm)) const { return barrier(comm); }
  int operator()(hocket_status_t (*broadcast)(Comm, void*, size_t, Type, int)) const {
    return broadcast(comm, call.output, call.count, HOCKET_BYTE, call.root);
  }
  int operator()(hocket_status_t (*gather)(Comm, const void*, void*, size_t, Type, int)) const {
    return gather(comm, call.input, call.output, call.count, HOCKET_BYTE, call.root);
  }
  int operator()(hocket_status_t (*gatherv)(Comm, const void*, size_t, void*, Counts, Counts, Type, int)) const {
    return gatherv(comm, call.input, call.count, call.output, counts, at, HOCKET_BYTE, call.root);
  }
  int operator()(hocket_status_t (*scatterv)(Comm, const void*, Counts, Counts, void*, size_t, Type, int)) const {
    return scatterv(comm, call.input, counts, at, call.output, call.count, HOCKET_BYTE, call.root);
  }
  int operator()(hocket_status_t (*allgather)(Comm, const void*, void*, size_t, Type)) const {
    return allgather(comm, call.input, call.output, call.count, HOCKET_BYTE);
  }
  int operator()(hocket_status_t (*allgatherv)(Comm, const void*, void*, Counts, Counts, Type)) const {
    return allgatherv(comm, call.input, call.output, counts, at, HOCKET_BYTE);
  }
  int operator()(hocket_status_t (*alltoallv)(Comm, const void*, Counts, Counts, void*, Counts, Counts, Type)) const {
    return alltoallv(comm, call.input, sent, at, call.output, received, at, HOCKET_BYTE);
  }
  int operator()(hocket_status_t (*reduce)(Comm, const void*, void*, size_t, Type, Op, int)) const {
    return reduce(comm, call.input, call.output, call.count, type, op, call.root);
  }
  int operator()(hocket_status_t (*allreduce)(Comm, const void*, void*, size_t, Type, Op)) const {
    return allreduce(comm, call.input, call.output, call.count, type, op);
  }
  int operator()(hocket_status_t (*reduce_scatter)(Comm, const void*, void*, Counts, Type, Op)) const {
    return reduce_scatter(comm, call.input, call.output, counts, type, op);
  }
};

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
  if (options.memory == Memory::kShared) {
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
      blocks_(options.lengths, endpoint.rank(), endpoint.ranks()),
      halo_(options.halo),
      rank_(endpoint.rank()) {}

std::string HocketVariant::activate(Collective collective) {
  if (schedule::is_among_neighbors(collective) && !neighbourhood_.is_there())
    if (std::string problem = neighbourhood_.make(comm_, halo_, rank_); !problem.empty()) return problem;
  if (!forces_) return {};
  const std::string collective_name(schedule::name(collective));
  const char* forced = spec_.empty() ? nullptr : spec_.c_str();
  return hocket_force(comm_, collective_name.c_str(), forced) == HOCKET_OK ? "" : hocket_error_text();
}

int HocketVariant::run(const Call& call) {
  if (schedule::is_among_neighbors(call.collective)) return neighbourhood_.run(call);
  if (schedule::is_vector(call.collective)) blocks_.set(call.count);
  const Caller caller{
      call, comm_, type_, op_, blocks_.counts(), blocks_.sent(), blocks_.received(), blocks_.displacements()};
  switch (call.collective) {
#define HOCKET_COLLECTIVE(constant, name, ...) \
  case Collective::k##constant:                \
    return caller(hocket_##name);
#include "base/collectives.def"
    default:
      break;
  }
  return HOCKET_ERR_INVALID_ARGUMENT;
}

std::string HocketVariant::error(int) const { return hocket_error_text(); }

}  // namespace hocket::bench
