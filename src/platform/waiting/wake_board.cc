// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/wake_board.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <string>
#include <utility>

#include "base/clock.h"
#include "platform/descriptor.h"
#include "platform/whereabouts/own_record.h"

namespace hocket::platform {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// futex_waitv(2), Linux 5.16. The headers of older systems have neither.
constexpr long kFutexWaitv = 449;
constexpr uint32_t kSharedWord = 2;  // FUTEX_32, of several processes
struct WaitedWord {
  uint64_t value;
  uint64_t address;
  uint32_t flags;
  uint32_t reserved;
};

timespec duration(int64_t ns) { return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)}; }

// The record of another process, writable. nullptr: it can't be had, or is another's.
Record* map_record(const WakeAddress& address) {
  if (address.key == 0) return nullptr;
  const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0 || lseek(file.get(), 0, SEEK_END) != static_cast<off_t>(sizeof(Record))) return nullptr;
  void* const memory = mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const record = static_cast<Record*>(memory);
  // A process of another namespace of numbers may be somebody else.
  if (record->magic.load(std::memory_order_relaxed) == Record::kMagic && record->bytes == sizeof(Record) &&
      record->wake.key.load(std::memory_order_relaxed) == address.key)
    return record;
  munmap(memory, sizeof(Record));
  return nullptr;
}

}  // namespace

WakeAddress WakeBoard::publish(uint64_t key) {
  Record* const record = own_record();
  if (record == nullptr || key == 0) return {};
  record->wake.key.store(key, std::memory_order_relaxed);
  return {key, getpid(), record_descriptor()};
}

std::unique_ptr<WakeBoard> WakeBoard::join(std::vector<WakeAddress> peers, uint32_t own, bool is_whole_job) {
  Record* const record = own_record();
  if (record == nullptr || own >= peers.size() || peers[own].key == 0) return nullptr;
  Record* const first = own == 0 ? record : map_record(peers[0]);
  if (first == nullptr) return nullptr;
  return std::unique_ptr<WakeBoard>(new WakeBoard(std::move(peers), own, is_whole_job, record, first));
}

WakeBoard::WakeBoard(std::vector<WakeAddress> peers, uint32_t own, bool is_whole_job, Record* own_record, Record* first)
    : peers_(std::make_unique<Peer[]>(peers.size())),
      size_(static_cast<uint32_t>(peers.size())),
      own_index_(own),
      is_whole_job_(is_whole_job),
      own_(&own_record->wake),
      first_(&first->wake_count),
      cores_(first->wake_count.cores, own) {
  for (uint32_t peer = 0; peer < size_; ++peer) peers_[peer].address = peers[peer];
  peers_[0].record.store(first, std::memory_order_relaxed);
  peers_[own].record.store(own_record, std::memory_order_relaxed);
  first_->members.fetch_add(1, std::memory_order_relaxed);
}

void WakeBoard::retire() {
  if (std::exchange(is_retired_, true)) return;
  cores_.mark(-1);
  first_->members.fetch_sub(1, std::memory_order_relaxed);
}

WakeBoard::~WakeBoard() {
  retire();
  for (uint32_t peer = 0; peer < size_; ++peer) {
    Record* const record = peers_[peer].record.load(std::memory_order_relaxed);
    if (record != nullptr && peer != own_index_) munmap(record, sizeof(Record));
  }
}

// Relaxed: a rank that joins later only makes it true later.
bool WakeBoard::is_complete() const {
  return is_whole_job_ && first_->members.load(std::memory_order_relaxed) == size_;
}

WakeLine* WakeBoard::find(uint32_t index) {
  Peer& peer = peers_[index];
  Record* record = peer.record.load(std::memory_order_acquire);
  if (record != nullptr) return &record->wake;
  if (peer.is_lost.load(std::memory_order_relaxed)) return nullptr;
  Record* const mapped = map_record(peer.address);
  if (mapped == nullptr) {
    const bool may_come_back = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    peer.is_lost.store(!may_come_back, std::memory_order_relaxed);
    return nullptr;
  }
  // If two threads map it, one mapping stays.
  if (peer.record.compare_exchange_strong(record, mapped, std::memory_order_acq_rel)) return &mapped->wake;
  munmap(mapped, sizeof(Record));
  return &record->wake;
}

void WakeBoard::ring(uint32_t peer) { ring(peer, true); }

void WakeBoard::ring(uint32_t peer, bool is_access) {
  if (peer >= size_ || peer == own_index_) return;
  const auto now = static_cast<int64_t>(now_ns());
  if (now - peers_[peer].rung_ns.load(std::memory_order_relaxed) < kBetweenRingsNs) return;
  peers_[peer].rung_ns.store(now, std::memory_order_relaxed);
  WakeLine* const line = find(peer);
  if (line == nullptr) return;
  if (is_access) line->accesses.fetch_add(1, std::memory_order_relaxed);
  const int32_t core = sched_getcpu() + 1;
  line->rung_from.store(core, std::memory_order_relaxed);
  // Sequentially consistent, with the sleeper's fetch_add on `sleepers` and the kernel's comparison: either this sees
  // the sleeper, or the sleeper's futex word has changed. It also releases what the ringer did before.
  line->rings.fetch_add(1, std::memory_order_seq_cst);
  if (line->sleepers.load(std::memory_order_seq_cst) == 0) return;
  syscall(SYS_futex, &line->rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  // It would get the core when this rank's time slice is over, milliseconds from now.
  if (is_access && line->sleeps_on.load(std::memory_order_relaxed) == core) sched_yield();
}

bool WakeBoard::is_on_ringers_core() const {
  return own_->rung_from.load(std::memory_order_relaxed) == sched_getcpu() + 1;
}

void WakeBoard::ring_all() {
  for (uint32_t peer = 0; peer < size_; ++peer) ring(peer, false);
}

bool WakeBoard::sleep(uint32_t seen, int64_t timeout_ns, const std::atomic<uint32_t>* also) {
  // Relaxed: only this function writes it, and any value is right.
  static std::atomic<bool> is_waitv_missing{false};
  own_->sleeps_on.store(sched_getcpu() + 1, std::memory_order_relaxed);  // a guess is enough
  // Sequentially consistent: see ring().
  own_->sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (also == nullptr) {
    const timespec limit = duration(timeout_ns);
    syscall(SYS_futex, &own_->rings, FUTEX_WAIT, seen, &limit, nullptr, 0);
  } else {
    bool is_missing = is_waitv_missing.load(std::memory_order_relaxed);
    if (!is_missing) {
      const WaitedWord words[] = {{seen, reinterpret_cast<uintptr_t>(&own_->rings), kSharedWord, 0},
                                  {1, reinterpret_cast<uintptr_t>(also), kSharedWord, 0}};
      const timespec until = duration(static_cast<int64_t>(now_ns()) + timeout_ns);
      is_missing = syscall(kFutexWaitv, words, 2, 0, &until, CLOCK_MONOTONIC) < 0 &&
                   (errno == ENOSYS || errno == EPERM || errno == EINVAL);
      if (is_missing) is_waitv_missing.store(true, std::memory_order_relaxed);
    }
    if (is_missing) {
      const timespec limit = duration(std::min(timeout_ns, kShortSleepNs));
      syscall(SYS_futex, also, FUTEX_WAIT, 1, &limit, nullptr, 0);
    }
  }
  own_->sleepers.fetch_sub(1, std::memory_order_relaxed);
  return rings() != seen;
}

}  // namespace hocket::platform
