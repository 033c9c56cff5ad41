// SPDX-License-Identifier: BSD-3-Clause
#include "calls.h"

#include <dlfcn.h>

#include "ends.h"

namespace conformance {
namespace {

// Arguments in the two widths that MPI has.
template <class Count, class Place>
struct Arguments {
  Arguments(const Side& side, bool has_own_types)
      : count(static_cast<Count>(side.count)),
        type(side.type),
        all_counts(side.counts.begin(), side.counts.end()),
        all_places(side.displacements.begin(), side.displacements.end()),
        all_types(side.types),
        counts(all_counts.empty() ? nullptr : all_counts.data()),
        places(all_places.empty() ? nullptr : all_places.data()),
        types(all_types.empty() ? nullptr : all_types.data()) {
    if (!has_own_types) return;
    copy(type);
    for (MPI_Datatype& each : all_types) copy(each);
  }

  // A type may go as soon as the call that uses it has been started.
  void free_own_types() {
    for (MPI_Datatype& own : own_types) MPI_Type_free(&own);
    own_types.clear();
  }

  Count count;
  MPI_Datatype type;
  std::vector<Count> all_counts;
  std::vector<Place> all_places;
  std::vector<MPI_Datatype> all_types, own_types;
  const Count* counts;
  const Place* places;
  const MPI_Datatype* types;

 private:
  void copy(MPI_Datatype& one) {
    if (one == MPI_DATATYPE_NULL || MPI_Type_dup(one, &one) != MPI_SUCCESS) return;
    own_types.push_back(one);
  }
};

struct Small {
  using Arguments = conformance::Arguments<int, int>;
};
struct Large {
  using Arguments = conformance::Arguments<MPI_Count, MPI_Aint>;
};

struct SmallBlocking : Small {
#define HOCKET_FUNCTION(name, function) static constexpr auto name = MPI_##function;
#include "functions.def"
#undef HOCKET_FUNCTION
};
struct SmallStarted : Small {
#define HOCKET_FUNCTION(name, function) static constexpr auto name = MPI_I##name;
#include "functions.def"
#undef HOCKET_FUNCTION
};
#if HOCKET_TEST_HAS_PERSISTENT
struct SmallPersistent : Small {
#define HOCKET_FUNCTION(name, function) static constexpr auto name = MPI_##function##_init;
#include "functions.def"
#undef HOCKET_FUNCTION
};
#endif
#if MPI_VERSION >= 4
struct LargeBlocking : Large {
#define HOCKET_FUNCTION(name, function) static constexpr auto name = MPI_##function##_c;
#include "functions.def"
#undef HOCKET_FUNCTION
};
struct LargeStarted : Large {
#define HOCKET_FUNCTION(name, function) static constexpr auto name = MPI_I##name##_c;
#include "functions.def"
#undef HOCKET_FUNCTION
};
struct LargePersistent : Large {
#define HOCKET_FUNCTION(name, function) static constexpr auto name = MPI_##function##_init_c;
#include "functions.def"
#undef HOCKET_FUNCTION
};
#endif

struct Buffers {
  const void* input;
  void* output;
};

// `behind`: what a form has behind the arguments of the blocking call.
template <class Mpi, class... Behind>
int move(Collective collective, const typename Mpi::Arguments& in, const typename Mpi::Arguments& out, Buffers buffers,
         int root, MPI_Comm comm, Behind... behind) {
  const auto [input, output] = buffers;
  switch (collective) {
    case Collective::kBcast:
      return Mpi::bcast(output, out.count, out.type, root, comm, behind...);
    case Collective::kGather:
      return Mpi::gather(input, in.count, in.type, output, out.count, out.type, root, comm, behind...);
    case Collective::kGatherv:
      return Mpi::gatherv(input, in.count, in.type, output, out.counts, out.places, out.type, root, comm, behind...);
    case Collective::kScatter:
      return Mpi::scatter(input, in.count, in.type, output, out.count, out.type, root, comm, behind...);
    case Collective::kScatterv:
      return Mpi::scatterv(input, in.counts, in.places, in.type, output, out.count, out.type, root, comm, behind...);
    case Collective::kAllgather:
      return Mpi::allgather(input, in.count, in.type, output, out.count, out.type, comm, behind...);
    case Collective::kAllgatherv:
      return Mpi::allgatherv(input, in.count, in.type, output, out.counts, out.places, out.type, comm, behind...);
    case Collective::kAlltoall:
      return Mpi::alltoall(input, in.count, in.type, output, out.count, out.type, comm, behind...);
    case Collective::kAlltoallv:
      return Mpi::alltoallv(input, in.counts, in.places, in.type, output, out.counts, out.places, out.type, comm,
                            behind...);
    case Collective::kAlltoallw:
      return Mpi::alltoallw(input, in.counts, in.places, in.types, output, out.counts, out.places, out.types, comm,
                            behind...);
    default:
      return MPI_ERR_OTHER;
  }
}

template <class Mpi, class... Behind>
int combine(Collective collective, const typename Mpi::Arguments& in, const typename Mpi::Arguments& out,
            Buffers buffers, MPI_Op op, int root, MPI_Comm comm, Behind... behind) {
  const auto [input, output] = buffers;
  switch (collective) {
    case Collective::kReduce:
      return Mpi::reduce(input, output, in.count, in.type, op, root, comm, behind...);
    case Collective::kAllreduce:
      return Mpi::allreduce(input, output, in.count, in.type, op, comm, behind...);
    case Collective::kReduceScatterBlock:
      return Mpi::reduce_scatter_block(input, output, out.count, out.type, op, comm, behind...);
    case Collective::kReduceScatter:
      return Mpi::reduce_scatter(input, output, out.counts, out.type, op, comm, behind...);
    case Collective::kScan:
      return Mpi::scan(input, output, in.count, in.type, op, comm, behind...);
    case Collective::kExscan:
      return Mpi::exscan(input, output, in.count, in.type, op, comm, behind...);
    default:
      return MPI_ERR_OTHER;
  }
}

// Both sides, and the call with them.
template <class Width>
class Sides {
 public:
  Sides(const Part& part, bool has_own_types)
      : send_(part.send, has_own_types), receive_(part.receive, has_own_types) {}

  template <class Mpi, class... Behind>
  int call(const Case& which, Buffers buffers, int root, MPI_Comm comm, Behind... behind) {
    const int error =
        is_reduction(which.collective)
            ? combine<Mpi>(which.collective, send_, receive_, buffers, which.operation->op, root, comm, behind...)
            : move<Mpi>(which.collective, send_, receive_, buffers, root, comm, behind...);
    send_.free_own_types();
    receive_.free_own_types();
    return error;
  }

 private:
  typename Width::Arguments send_, receive_;
};

int call_barrier(Form form, MPI_Comm comm, MPI_Request* request) {
  if (form == Form::kBlocking) return MPI_Barrier(comm);
  if (form == Form::kStarted) return MPI_Ibarrier(comm, request);
#if HOCKET_TEST_HAS_PERSISTENT
  return MPI_Barrier_init(comm, MPI_INFO_NULL, request);
#else
  return MPI_ERR_OTHER;
#endif
}

}  // namespace

MadeCall::MadeCall(const Case& which, const Part& part, const Communicator& communicator, unsigned char* input,
                   unsigned char* output)
    : case_(which),
      part_(part),
      communicator_(communicator),
      input_(part.send.is_in_place ? MPI_IN_PLACE
             : part.send.is_null   ? nullptr
                                   : input),
      output_(part.receive.is_in_place ? MPI_IN_PLACE
              : part.receive.is_null   ? nullptr
                                       : output) {}

void MadeCall::complain_unless(bool is_right, const char* what) {
  if (!is_right && complaint_.empty()) complaint_ = what;
}

int MadeCall::make() {
  const MPI_Comm comm = communicator_.comm;
  if (case_.collective == Collective::kBarrier) return call_barrier(case_.form, comm, &request_);
  const int root = static_cast<int>(case_.root % static_cast<uint64_t>(communicator_.size));
  const Buffers buffers{input_, output_};
#if MPI_VERSION >= 4
  if (case_.is_large) {
    const auto sides = std::make_shared<Sides<Large>>(part_, case_.frees_types);
    sides_ = sides;
    if (case_.form == Form::kBlocking) return sides->call<LargeBlocking>(case_, buffers, root, comm);
    if (case_.form == Form::kStarted) return sides->call<LargeStarted>(case_, buffers, root, comm, &request_);
    return sides->call<LargePersistent>(case_, buffers, root, comm, MPI_INFO_NULL, &request_);
  }
#endif
  const auto sides = std::make_shared<Sides<Small>>(part_, case_.frees_types);
  sides_ = sides;
  if (case_.form == Form::kBlocking) return sides->call<SmallBlocking>(case_, buffers, root, comm);
  if (case_.form == Form::kStarted) return sides->call<SmallStarted>(case_, buffers, root, comm, &request_);
#if HOCKET_TEST_HAS_PERSISTENT
  return sides->call<SmallPersistent>(case_, buffers, root, comm, MPI_INFO_NULL, &request_);
#else
  return MPI_ERR_OTHER;
#endif
}

int MadeCall::start() {
  const int error = MPI_Start(&request_);
  complain_unless(request_ != MPI_REQUEST_NULL, "MPI_Start has ended the request");
  return error;
}

int MadeCall::end() {
  complain_unless(request_ != MPI_REQUEST_NULL, "there is no request");
  const int error = end_request(case_, communicator_, request_, complaint_);
  if (error != MPI_SUCCESS) return error;
  const bool is_kept = request_ != MPI_REQUEST_NULL;
  complain_unless(is_kept == (case_.form == Form::kPersistent),
                  is_kept ? "the request is still there" : "the persistent request is gone");
  return error;
}

int MadeCall::free() {
  const int error = MPI_Request_free(&request_);
  complain_unless(request_ == MPI_REQUEST_NULL, "the request is still there after MPI_Request_free");
  return error;
}

Switch::Switch(bool stays_off) {
  using Enable = int (*)(int);
  using Count = unsigned long long (*)();
  const auto enable = reinterpret_cast<Enable>(dlsym(RTLD_DEFAULT, "hocket_mpi_set_enabled"));
  if (enable == nullptr) return;
  if (stays_off) {
    enable(0);
    return;
  }
  enable_ = enable;
  count_ = reinterpret_cast<Count>(dlsym(RTLD_DEFAULT, "hocket_mpi_carried_out"));
}

}  // namespace conformance
