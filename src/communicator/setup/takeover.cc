// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/takeover.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

#include "base/log.h"

namespace hocket::communicator {

using engines::shared_memory::Promise;
using engines::shared_memory::Takeovers;

namespace {

// Of looks in vain: after these only every so many looks for the others.
constexpr uint32_t kEagerLooks = 64, kCallsPerLook = 16;

}  // namespace

Takeover::Takeover(uint32_t rank, std::vector<uint32_t> in_job, uint64_t number, uint64_t calls, Join join)
    : join_(std::move(join)),
      rank_(rank),
      in_job_(std::move(in_job)),
      number_(number),
      places_(in_job_.size()),
      calls_(calls) {
  untold_.reserve(in_job_.size());  // for the end, which doesn't fail
}

// Nobody who has not heard of the communicator uses what it is made of.
Takeover::~Takeover() {
  Place* const own = places_[rank_];
  const bool is_done = own != nullptr && Takeovers::is_done(*own);
  if (!is_done) return;
  if (communicator_ != nullptr) communicator_->end_unused();
  if (setup_ != nullptr) setup_->end_unused();
  Takeovers::give_back(*own);
}

void Takeover::introduce() {
  const auto size = static_cast<uint32_t>(in_job_.size());
  const size_t bytes = Setup::first_message_bytes();
  introductions_.resize(bytes * size);
  setup_ = std::make_unique<Setup>(*context_, Bootstrap{rank_, size, nullptr, nullptr});
  Result<const void*> told = setup_->introduce();
  if (told.is_ok()) {
    const std::scoped_lock lock(context_->setup_mutex());
    places_[rank_] = board_->claim(number_, size, calls_, told.value(), bytes);
  }
  if (places_[rank_] == nullptr)
    HOCKET_LOG_DEBUG("no takeover of a communicator of %u ranks: %s", size,
                     told.is_ok() ? "no room to tell the others" : told.status().message());
}

void Takeover::begin() {
  const Joining joining = join_(!has_left_);
  if (joining.job == nullptr) return;
  context_ = &joining.job->context();
  board_.emplace(*joining.job->participants().group);
  try {
    if (joining.may_take_part) introduce();
  } catch (const std::bad_alloc&) {
    HOCKET_LOG_DEBUG("no takeover of a communicator of %zu ranks: out of memory", in_job_.size());
  }
  takes_part_ = places_[rank_] != nullptr;
  if (takes_part_) return;
  if (setup_ != nullptr) setup_->end_unused();
  setup_.reset();
  introductions_ = {};
  const std::scoped_lock lock(context_->setup_mutex());
  board_->decline(number_);
}

bool Takeover::hear_others() {
  const size_t bytes = Setup::first_message_bytes();
  for (; heard_ < in_job_.size(); ++heard_) {
    Place*& place = places_[heard_];
    if (place == nullptr) place = board_->find(in_job_[heard_], number_);
    if (place == nullptr) return false;
    Takeovers::read(*place, introductions_.data() + heard_ * bytes, bytes);
  }
  return true;
}

void Takeover::make() {
  const std::vector<std::byte> all = std::exchange(introductions_, {});
  Result<std::unique_ptr<Communicator>> made = setup_->meet(all.data());
  if (!made.is_ok()) {
    HOCKET_LOG_DEBUG("no takeover of a communicator of %zu ranks: %s", in_job_.size(), made.status().message());
    return;
  }
  communicator_ = made.take();
  setup_.reset();
  // Release: pairs with the acquire of who seals.
  places_[rank_]->has_made.store(1, std::memory_order_release);
}

bool Takeover::have_all_made() const {
  return communicator_ != nullptr && std::all_of(places_.begin(), places_.end(), [](const Place* place) {
           return place->has_made.load(std::memory_order_acquire) != 0;
         });
}

void Takeover::look() {
  try {
    if (!introductions_.empty() && hear_others()) make();
  } catch (const std::bad_alloc&) {
    // This rank never says that it has made it.
    HOCKET_LOG_DEBUG("no takeover of a communicator of %zu ranks: out of memory", in_job_.size());
  }
  if (have_all_made()) find_answer();
}

// All have been heard, for somebody has sealed a promise or is about to.
void Takeover::find_answer() {
  is_settled_ = true;
  uint64_t most = 0;
  bool is_closed = false;
  for (Place* place : places_) {
    const Promise::Settled settled = place->promise.seal();
    is_closed = is_closed || settled.state == Promise::State::kClosed;
    most = std::max(most, settled.calls);
  }
  has_taken_over_ = !is_closed;
  first_call_ = most + 1;
}

bool Takeover::take_next() {
  ++calls_;
  if (!board_) {
    begin();
    return false;
  }
  if (!is_settled_ && takes_part_) {
    ++looks_;
    if (looks_ <= kEagerLooks || looks_ % kCallsPerLook == 0) look();
    if (!is_settled_ && !places_[rank_]->promise.raise()) find_answer();
  }
  return has_taken_over_ && calls_ >= first_call_;
}

bool Takeover::settle() {
  if (!is_settled_ && takes_part_) look();
  return leave();
}

bool Takeover::leave() {
  if (std::exchange(has_left_, true)) return has_taken_over_;
  if (!is_settled_ && takes_part_) {
    if (places_[rank_]->promise.close().state == Promise::State::kSealed) find_answer();
    is_settled_ = true;
  }
  introductions_ = {};
  untold_.resize(in_job_.size());
  std::iota(untold_.begin(), untold_.end(), 0U);
  return has_taken_over_;
}

// Who takes no part looks at nobody's place, and the others know, or will as soon as the job has met.
bool Takeover::may_go() {
  if (!board_) begin();
  if (!takes_part_) return board_.has_value();
  Place& own = *places_[rank_];
  std::erase_if(untold_, [&](uint32_t rank) {
    Place* place = places_[rank];
    if (place == nullptr) place = board_->find(in_job_[rank], number_);
    if (place == nullptr && board_->has_declined(in_job_[rank], number_)) place = &own;  // for that rank
    if (place == nullptr) return false;
    // Release: this rank's looks at the place, and at what it tells of, are over.
    place->done.fetch_add(1, std::memory_order_acq_rel);
    return true;
  });
  return untold_.empty() && Takeovers::is_done(own);
}

}  // namespace hocket::communicator
