// SPDX-License-Identifier: BSD-3-Clause
// What the ranks' introductions say of nodes, NUMA domains and shared cores.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "communicator/setup.h"
#include "platform/machine/topology.h"

namespace hocket::communicator {

// Judged by what everybody has heard, so that all come to the same answer without asking again.
Status Setup::find_nodes() {
  std::vector<uint64_t> labels;
  for (const Introduction& one : all_) labels.push_back(platform::label_of_node(one.address));
  auto nodes = std::make_unique<const schedule::Nodes>(labels);
  if (nodes->count() == 1) {
    find_domains();
    return Status::ok();
  }
  communicator_->nodes_ = std::move(nodes);
  for (const Introduction& one : all_) communicator_->addresses_.push_back(one.wire_rank);
  communicator_->tag_ = all_[0].tag;
  communicator_->unique_number_ = uint64_t{all_[0].wire_rank + 1} << 32 | all_[0].serial;
  HOCKET_TRY(check_wire());
  communicator_->words_ = std::make_unique<WordOfMouth>(*context_.wire(), context_.tags()->words(all_[0].tag));
  return Status::ok();
}

// Only where every rank is bound to one.
void Setup::find_domains() {
  std::vector<uint64_t> labels;
  for (const Introduction& one : all_) {
    if (one.domain < 0) return;
    labels.push_back(static_cast<uint64_t>(one.domain));
  }
  auto domains = std::make_unique<const schedule::Nodes>(labels);
  if (domains->count() > 1) communicator_->domains_ = std::move(domains);
}

std::string Setup::describe_wire(const Introduction& one) {
  return std::to_string(one.wire_tags) + " tags for " + std::to_string(one.wire_size) + " processes";
}

Status Setup::check_wire() const {
  const auto without =
      std::find_if(all_.begin(), all_.end(), [](const Introduction& one) { return one.wire_size == 0; });
  if (without == all_.end()) {
    const auto other = std::find_if(all_.begin(), all_.end(), [this](const Introduction& one) {
      return one.wire_tags != all_[0].wire_tags || one.wire_size != all_[0].wire_size;
    });
    if (other != all_.end())
      return {Code::kMismatch, "the wire of rank 0 has " + describe_wire(all_[0]) + ", that of rank " +
                                   std::to_string(other - all_.begin()) + " " + describe_wire(*other) +
                                   "; it must be the same on all ranks"};
    if (all_[0].has_tag != 0) return Status::ok();
    const std::string wire = "the wire's " + describe_wire(all_[0]);
    const uint64_t least = uint64_t{kLeastTags} * all_[0].wire_size;
    if (all_[0].wire_tags < least)
      return {Code::kNotSupported, wire + " are not enough for a communicator; it takes " + std::to_string(least)};
    return {Code::kNotSupported, "rank 0 has opened as many communicators of several nodes as " + wire +
                                     " are enough for; destroy one first"};
  }
  const platform::Address& first = all_[0].address;
  const schedule::Nodes& nodes = *communicator_->nodes_;
  uint32_t other = 1;
  while (nodes.together(0, other)) ++other;
  const std::string apart =
      "ranks 0 and " + std::to_string(other) + " " + platform::why_apart(first, all_[other].address);
  // An MPI's job without a wire was on one node.
  if (context_.vocabulary() == Vocabulary::kMpi)
    return {Code::kNotSupported,
            apart + ", which was not so in MPI_Init: users and namespaces must not change after it"};
  return {Code::kNotSupported, apart + ", and rank " + std::to_string(without - all_.begin()) +
                                   " has no wire to other nodes; pass one in hocket_context_options_t"};
}

// By what all have told, so that all find the same.
void Setup::find_nic() {
  std::vector<NicPath::Offer> offers;
  for (const Introduction& one : all_) offers.push_back(one.nic);
  nic_ = NicPath::find(offers, *communicator_->nodes_, bootstrap_.rank, why_no_nic_);
  if (nic_ == nullptr) return;
  const Result<selection::Choice> barrier = communicator_->planner_->barrier_by_nic();
  why_no_nic_ = nic_->hold_programs(barrier.is_ok() ? &barrier.value() : nullptr);
  if (!why_no_nic_.empty()) nic_.reset();
}

// Where an engine was to be used by all means, that it can't is everybody's failure; else it is only told.
Status Setup::join_nic(Outcome& outcome) {
  if (communicator_->nodes_ == nullptr) return Status::ok();
  find_nic();
  if (nic_ != nullptr) {
    const Status joined = nic_->join(context_);
    if (!joined.is_ok()) why_no_nic_ = joined.message();
  }
  if (why_no_nic_.empty()) return Status::ok();
  if (all_[0].nic.wish == NicPath::Wish::kOn)
    return {Code::kInvalidArgument, "HOCKET_NIC=on can't be honoured: " + why_no_nic_};
  why_no_nic_.copy(outcome.no_nic, sizeof outcome.no_nic - 1);
  return Status::ok();
}

std::string Setup::first_reason(const std::vector<Outcome>& outcomes, const char (Outcome::*reason)[kReasonBytes]) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank)
    if ((outcomes[rank].*reason)[0] != '\0') return "rank " + std::to_string(rank) + ": " + outcomes[rank].*reason;
  return "";
}

void Setup::agree_on_nic(const std::vector<Outcome>& outcomes) {
  if (nic_ != nullptr) {
    why_no_nic_ = first_reason(outcomes, &Outcome::no_nic);
    if (!why_no_nic_.empty()) nic_.reset();
  }
  if (communicator_->nodes_ != nullptr && bootstrap_.rank == 0) {
    const std::string why = nic_ != nullptr ? "used" : "not used: " + why_no_nic_;
    HOCKET_LOG_INFO("a communicator of %u ranks on %u nodes: NIC engines are %s", bootstrap_.size,
                    communicator_->nodes_->count(), why.c_str());
  }
  communicator_->nic_ = std::move(nic_);
  communicator_->planner_->use(communicator_->nic_.get(), why_no_nic_);
}

Status Setup::join_multicast(Outcome& outcome) {
  if (communicator_->nodes_ == nullptr) return Status::ok();
  const bool is_forced = all_[0].multicast.wish == MulticastPath::Wish::kOn;
  if (!is_forced && !communicator_->planner_->wants_multicast()) {
    why_no_multicast_ = "no rule of the table and no forced choice names it (HOCKET_BROADCAST=multicast would)";
    return Status::ok();
  }
  if (all_[0].multicast.wish == MulticastPath::Wish::kOff) {
    why_no_multicast_ = "HOCKET_MULTICAST=off";
    return Status::ok();
  }
  multicast_ = std::make_unique<MulticastPath>(all_[0].multicast, *communicator_->nodes_, bootstrap_.rank);
  const Status joined = multicast_->join();
  outcome.multicast_bytes = multicast_->most_bytes();
  if (!joined.is_ok()) why_no_multicast_ = joined.message();
  if (why_no_multicast_.empty()) return Status::ok();
  if (is_forced) return {Code::kInvalidArgument, "HOCKET_MULTICAST=on can't be honoured: " + why_no_multicast_};
  why_no_multicast_.copy(outcome.no_multicast, sizeof outcome.no_multicast - 1);
  return Status::ok();
}

// All have joined, so all can hear. Where some rank can't, nobody is asked to try.
Status Setup::agree_on_multicast(const std::vector<Outcome>& outcomes) {
  if (multicast_ != nullptr) why_no_multicast_ = first_reason(outcomes, &Outcome::no_multicast);
  if (multicast_ != nullptr && why_no_multicast_.empty()) {
    const auto least = std::min_element(outcomes.begin(), outcomes.end(), [](const Outcome& one, const Outcome& other) {
      return one.multicast_bytes < other.multicast_bytes;
    });
    multicast_->agree_on_length(least->multicast_bytes);
    std::vector<uint32_t> heard;
    // Unless all have met, messages may be under way with the tags, which then must not serve another communicator.
    const std::optional<uint32_t> tag = std::exchange(own_tag_, std::nullopt);
    HOCKET_TRY(gather_heard(heard));
    const auto alone = std::find(heard.begin(), heard.end(), kNotMet);
    if (alone != heard.end())
      return {Code::kTimeout, "rank " + std::to_string(alone - heard.begin()) +
                                  " had no message of its neighbours in the chain that completes multicasts within " +
                                  std::to_string(context_.setup_timeout_ms()) +
                                  " ms: do messages of the MPI pass between all nodes? HOCKET_MULTICAST=off does "
                                  "without"};
    own_tag_ = tag;
    why_no_multicast_ = multicast_->judge(heard);
  }
  if (!why_no_multicast_.empty()) multicast_.reset();
  if (bootstrap_.rank == 0) {
    const std::string how = multicast_ != nullptr ? multicast_->describe() : "not used: " + why_no_multicast_;
    HOCKET_LOG_INFO("a communicator of %u ranks on %u nodes: multicast: %s", bootstrap_.size,
                    communicator_->nodes_->count(), how.c_str());
  }
  communicator_->planner_->use_multicast(multicast_ != nullptr ? multicast_->describe() : "", why_no_multicast_);
  communicator_->multicast_ = std::move(multicast_);
  return Status::ok();
}

bool Setup::find_crowded() const {
  std::vector<platform::CoreClaim> claims;
  for (const Introduction& one : all_) {
    if (one.crowded != 0) return true;  // more ranks of the job are here than this communicator has
    claims.push_back({one.address.boot_hash, {one.cpus[0], one.cpus[1]}, one.quota});
  }
  return platform::ranks_share_cores(claims);
}

bool Setup::has_other_nodes_here() const {
  if (communicator_->nodes_ == nullptr) return false;
  const schedule::Nodes& nodes = *communicator_->nodes_;
  const uint64_t machine = all_[bootstrap_.rank].address.boot_hash;
  for (uint32_t rank = 0; rank < bootstrap_.size; ++rank)
    if (all_[rank].address.boot_hash == machine && !nodes.together(rank, bootstrap_.rank)) return true;
  return false;
}

}  // namespace hocket::communicator
