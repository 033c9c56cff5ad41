// SPDX-License-Identifier: BSD-3-Clause
#include "calls.h"

#include <dlfcn.h>

namespace conformance {
namespace {

// Arguments in the two widths that MPI has.
template <class Count, class Place>
struct Arguments {
  Arguments(const Side& side)
      : count(static_cast<Count>(side.count)),
        type(side.type),
        all_counts(side.counts.begin(), side.counts.end()),
        all_places(side.displacements.begin(), side.displacements.end()),
        counts(all_counts.empty() ? nullptr : all_counts.data()),
        places(all_places.empty() ? nullptr : all_places.data()),
        types(side.types.empty() ? nullptr : side.types.data()) {}

  Count count;
  MPI_Datatype type;
  std::vector<Count> all_counts;
  std::vector<Place> all_places;
  const Count* counts;
  const Place* places;
  const MPI_Datatype* types;
};

struct Small {
  using Arguments = conformance::Arguments<int, int>;
  static constexpr auto bcast = MPI_Bcast;
  static constexpr auto reduce = MPI_Reduce;
  static constexpr auto allreduce = MPI_Allreduce;
  static constexpr auto gather = MPI_Gather;
  static constexpr auto gatherv = MPI_Gatherv;
  static constexpr auto scatter = MPI_Scatter;
  static constexpr auto scatterv = MPI_Scatterv;
  static constexpr auto allgather = MPI_Allgather;
  static constexpr auto allgatherv = MPI_Allgatherv;
  static constexpr auto alltoall = MPI_Alltoall;
  static constexpr auto alltoallv = MPI_Alltoallv;
  static constexpr auto alltoallw = MPI_Alltoallw;
  static constexpr auto reduce_scatter_block = MPI_Reduce_scatter_block;
  static constexpr auto reduce_scatter = MPI_Reduce_scatter;
  static constexpr auto scan = MPI_Scan;
  static constexpr auto exscan = MPI_Exscan;
};

#if MPI_VERSION >= 4
struct Large {
  using Arguments = conformance::Arguments<MPI_Count, MPI_Aint>;
  static constexpr auto bcast = MPI_Bcast_c;
  static constexpr auto reduce = MPI_Reduce_c;
  static constexpr auto allreduce = MPI_Allreduce_c;
  static constexpr auto gather = MPI_Gather_c;
  static constexpr auto gatherv = MPI_Gatherv_c;
  static constexpr auto scatter = MPI_Scatter_c;
  static constexpr auto scatterv = MPI_Scatterv_c;
  static constexpr auto allgather = MPI_Allgather_c;
  static constexpr auto allgatherv = MPI_Allgatherv_c;
  static constexpr auto alltoall = MPI_Alltoall_c;
  static constexpr auto alltoallv = MPI_Alltoallv_c;
  static constexpr auto alltoallw = MPI_Alltoallw_c;
  static constexpr auto reduce_scatter_block = MPI_Reduce_scatter_block_c;
  static constexpr auto reduce_scatter = MPI_Reduce_scatter_c;
  static constexpr auto scan = MPI_Scan_c;
  static constexpr auto exscan = MPI_Exscan_c;
};
#endif

template <class Mpi>
int move(const Case& which, const Part& part, MPI_Comm comm, int root, const void* input, void* output) {
  const typename Mpi::Arguments in(part.send), out(part.receive);
  switch (which.collective) {
    case Collective::kBcast:
      return Mpi::bcast(output, out.count, out.type, root, comm);
    case Collective::kGather:
      return Mpi::gather(input, in.count, in.type, output, out.count, out.type, root, comm);
    case Collective::kGatherv:
      return Mpi::gatherv(input, in.count, in.type, output, out.counts, out.places, out.type, root, comm);
    case Collective::kScatter:
      return Mpi::scatter(input, in.count, in.type, output, out.count, out.type, root, comm);
    case Collective::kScatterv:
      return Mpi::scatterv(input, in.counts, in.places, in.type, output, out.count, out.type, root, comm);
    case Collective::kAllgather:
      return Mpi::allgather(input, in.count, in.type, output, out.count, out.type, comm);
    case Collective::kAllgatherv:
      return Mpi::allgatherv(input, in.count, in.type, output, out.counts, out.places, out.type, comm);
    case Collective::kAlltoall:
      return Mpi::alltoall(input, in.count, in.type, output, out.count, out.type, comm);
    case Collective::kAlltoallv:
      return Mpi::alltoallv(input, in.counts, in.places, in.type, output, out.counts, out.places, out.type, comm);
    case Collective::kAlltoallw:
      return Mpi::alltoallw(input, in.counts, in.places, in.types, output, out.counts, out.places, out.types, comm);
    default:
      return MPI_ERR_OTHER;
  }
}

template <class Mpi>
int combine(const Case& which, const Part& part, MPI_Comm comm, int root, const void* input, void* output) {
  const typename Mpi::Arguments in(part.send), out(part.receive);
  const MPI_Op op = which.operation->op;
  switch (which.collective) {
    case Collective::kReduce:
      return Mpi::reduce(input, output, in.count, in.type, op, root, comm);
    case Collective::kAllreduce:
      return Mpi::allreduce(input, output, in.count, in.type, op, comm);
    case Collective::kReduceScatterBlock:
      return Mpi::reduce_scatter_block(input, output, out.count, out.type, op, comm);
    case Collective::kReduceScatter:
      return Mpi::reduce_scatter(input, output, out.counts, out.type, op, comm);
    case Collective::kScan:
      return Mpi::scan(input, output, in.count, in.type, op, comm);
    case Collective::kExscan:
      return Mpi::exscan(input, output, in.count, in.type, op, comm);
    default:
      return MPI_ERR_OTHER;
  }
}

template <class Mpi>
int either(const Case& which, const Part& part, MPI_Comm comm, int root, const void* input, void* output) {
  return is_reduction(which.collective) ? combine<Mpi>(which, part, comm, root, input, output)
                                        : move<Mpi>(which, part, comm, root, input, output);
}

}  // namespace

int call(const Case& which, const Part& part, const Communicator& communicator, unsigned char* input,
         unsigned char* output) {
  if (which.collective == Collective::kBarrier) return MPI_Barrier(communicator.comm);
  const int root = static_cast<int>(which.root % static_cast<uint64_t>(communicator.size));
  const void* from = part.send.is_in_place ? MPI_IN_PLACE : part.send.is_null ? nullptr : input;
  void* to = part.receive.is_in_place ? MPI_IN_PLACE : part.receive.is_null ? nullptr : output;
#if MPI_VERSION >= 4
  if (which.is_large) return either<Large>(which, part, communicator.comm, root, from, to);
#endif
  return either<Small>(which, part, communicator.comm, root, from, to);
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
