// SPDX-License-Identifier: BSD-3-Clause
#include "two_ranks.h"

#include <sched.h>

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace hocket::bench {
namespace {

std::vector<int> allowed_processors() {
  cpu_set_t mask;
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &mask)) processors.push_back(processor);
  }
  return processors;
}

void bind_to(int processor) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(processor, &mask);
  if (sched_setaffinity(0, sizeof mask, &mask) != 0) std::perror("can't bind a rank to its core");
}

// The bootstrap's all-gather: both show what they send, both copy.
struct Meeting {
  std::barrier<> both{TwoRanks::kRanks};
  const void* sent[TwoRanks::kRanks] = {};
};
struct Seat {
  Meeting* meeting;
  uint32_t rank;
};

int allgather(const void* send, void* receive, size_t bytes, void* user) {
  const Seat& seat = *static_cast<Seat*>(user);
  seat.meeting->sent[seat.rank] = send;
  seat.meeting->both.arrive_and_wait();
  for (uint32_t rank = 0; rank < TwoRanks::kRanks; ++rank) {
    std::memcpy(static_cast<std::byte*>(receive) + rank * bytes, seat.meeting->sent[rank], bytes);
  }
  seat.meeting->both.arrive_and_wait();
  return 0;
}

}  // namespace

void give_up(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::_Exit(1);
}

std::unique_ptr<TwoRanks> TwoRanks::create() {
  const std::vector<int> processors = allowed_processors();
  if (processors.size() < kRanks) {
    std::fprintf(stderr, "two ranks need two cores, this process may use %zu\n", processors.size());
    return nullptr;
  }
  constexpr size_t kLimit = size_t{16} << 20;
  std::unique_ptr<TwoRanks> made(new TwoRanks);
  for (auto& region : made->regions_) {
    Result<std::shared_ptr<platform::SharedRegion>> created = platform::SharedRegion::create(kLimit);
    if (!created.is_ok()) give_up(created.status().message());
    region = created.take();
  }
  bind_to(processors[0]);
  made->thread_ = std::thread(&TwoRanks::serve, made.get(), processors[1]);
  return made;
}

TwoRanks::~TwoRanks() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void* TwoRanks::allocate(uint32_t rank, size_t bytes) {
  void* memory = regions_[rank]->allocate(bytes);
  if (memory == nullptr) give_up("no shared memory");
  return memory;
}

void TwoRanks::run(const std::function<void(uint32_t)>& body) {
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
  }
  changed_.notify_all();
  body(0);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return body_ == nullptr; });
}

void TwoRanks::serve(int processor) {
  bind_to(processor);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return over_ || body_ != nullptr; });
    if (over_) return;
    const std::function<void(uint32_t)>& body = *body_;
    lock.unlock();
    body(1);
    lock.lock();
    body_ = nullptr;
    changed_.notify_all();
  }
}

std::unique_ptr<PublicComm> PublicComm::create(TwoRanks& ranks, const char* barrier) {
  std::unique_ptr<PublicComm> made(new PublicComm(ranks));
  setenv("HOCKET_BARRIER", barrier, 1);
  Meeting meeting;
  ranks.run([&](uint32_t rank) {
    Seat seat{&meeting, rank};
    const hocket_bootstrap_t bootstrap = {static_cast<int>(rank), TwoRanks::kRanks, allgather, &seat};
    if (hocket_context_create(nullptr, &made->contexts_[rank]) != HOCKET_OK ||
        hocket_comm_create(made->contexts_[rank], &bootstrap, &made->comms_[rank]) != HOCKET_OK) {
      give_up(hocket_error_text());  // the other rank would wait for ever
    }
  });
  unsetenv("HOCKET_BARRIER");
  return made;
}

PublicComm::~PublicComm() {
  ranks_.run([this](uint32_t rank) {
    (void)hocket_comm_destroy(comms_[rank]);
    (void)hocket_context_destroy(contexts_[rank]);
  });
}

}  // namespace hocket::bench
