// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifetime/clocks.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "shim/job/job.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

constexpr int kRounds = 16;
constexpr int kTag = 1;

bool send_time(int to) {
  const uint64_t now = now_ns();
  return next_pmpi().Send(&now, sizeof now, handles.byte, to, kTag, hidden_comm()) == MPI_SUCCESS;
}

bool receive_time(int from, uint64_t& time_ns) {
  return next_pmpi().Recv(&time_ns, sizeof time_ns, handles.byte, from, kTag, hidden_comm(), MPI_STATUS_IGNORE) ==
         MPI_SUCCESS;
}

void answer(int rank) {
  uint64_t ignored = 0;
  for (int round = 0; round < kRounds; ++round)
    if (!receive_time(rank, ignored) || !send_time(rank)) return;
}

// Rank 0's clock was read half way between the two reads of this one, or within half of the round trip of that.
int64_t ask() {
  uint64_t shortest = std::numeric_limits<uint64_t>::max();
  int64_t offset = 0;
  for (int round = 0; round < kRounds; ++round) {
    uint64_t theirs = 0;
    const uint64_t before = now_ns();
    if (!send_time(0) || !receive_time(0, theirs)) return offset;
    const uint64_t after = now_ns();
    if (after - before >= shortest) continue;
    shortest = after - before;
    offset = static_cast<int64_t>(theirs) - static_cast<int64_t>(before + shortest / 2);
  }
  return offset;
}

}  // namespace

int64_t clock_offset_ns(const std::vector<uint64_t>& nodes) {
  const auto mine = static_cast<size_t>(rank_on_hidden_comm());
  const auto first_of = [&](size_t rank) {
    return static_cast<size_t>(std::find(nodes.begin(), nodes.end(), nodes[rank]) - nodes.begin());
  };
  int64_t offset = 0;
  for (size_t rank = 1; rank < nodes.size(); ++rank) {
    if (first_of(rank) != rank) continue;
    if (mine == 0) answer(static_cast<int>(rank));
    if (mine == rank) offset = ask();
  }
  std::vector<int64_t> all(nodes.size());
  const int error = next_pmpi().Allgather(&offset, sizeof offset, handles.byte, all.data(), sizeof offset, handles.byte,
                                          hidden_comm());
  return error == MPI_SUCCESS ? all[first_of(mine)] : 0;
}

}  // namespace hocket::interposer
