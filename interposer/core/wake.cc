// SPDX-License-Identifier: BSD-3-Clause
#include "core/wake.h"

#include <atomic>
#include <memory>
#include <utility>

#include "c_api/internal/timing/trace.h"

namespace hocket::interposer {
namespace {

struct Board {
  // Stored with release behind what it points to: a thread may test on a session beside the beginning of a job.
  std::atomic<platform::WakeBoard*> board{nullptr};
  std::unique_ptr<platform::WakeBoard> owned, retired;
  std::vector<int32_t> places;  // by rank of the job; negative: on another node
};

// Never destroyed: threads of the program may outlive static destruction.
Board& the_board() {
  static auto* board = new Board;
  return *board;
}

}  // namespace

platform::WakeAddress wake_address() { return platform::WakeBoard::publish(c_api::new_trace_job()); }

void open_board(const std::vector<platform::WakeAddress>& ranks, int own) {
  Board& self = the_board();
  self.places.assign(ranks.size(), -1);
  std::vector<platform::WakeAddress> here;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].key == 0) continue;
    self.places[rank] = static_cast<int32_t>(here.size());
    here.push_back(ranks[rank]);
  }
  const int32_t place = self.places[static_cast<size_t>(own)];
  if (place < 0 || here.size() == 1) return;
  const bool is_whole_job = here.size() == ranks.size();
  self.owned = platform::WakeBoard::join(std::move(here), static_cast<uint32_t>(place), is_whole_job);
  self.board.store(self.owned.get(), std::memory_order_release);
  if (self.owned != nullptr) internal::waiting.store(&self.owned->waiting(), std::memory_order_release);
}

// Another thread may be testing on a session that is still open: the board stays mapped until the next one is closed.
void close_board() {
  Board& self = the_board();
  internal::waiting.store(&internal::none_waiting, std::memory_order_relaxed);
  self.board.store(nullptr, std::memory_order_relaxed);
  if (self.owned == nullptr) return;
  self.owned->retire();
  self.retired = std::move(self.owned);
}

void forget_board() {
  internal::waiting.store(&internal::none_waiting, std::memory_order_relaxed);
  // The parent's mappings stay.
  the_board().board.store(nullptr, std::memory_order_relaxed);
  [[maybe_unused]] const platform::WakeBoard* const parents = the_board().owned.release();
}

platform::WakeBoard* wake_board() { return the_board().board.load(std::memory_order_acquire); }

void ring_rank(int rank) {
  const Board& self = the_board();
  platform::WakeBoard* const board = wake_board();
  if (board == nullptr || rank < 0 || static_cast<size_t>(rank) >= self.places.size()) return;
  const int32_t place = self.places[static_cast<size_t>(rank)];
  if (place >= 0) board->ring(static_cast<uint32_t>(place));
}

void ring_node() {
  if (platform::WakeBoard* const board = wake_board(); board != nullptr) board->ring_all();
}

}  // namespace hocket::interposer
