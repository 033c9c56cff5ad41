// SPDX-License-Identifier: BSD-3-Clause
// What a rank does by itself between the rounds: connects with its peers, maps their memory, and makes what calls need.
#include <algorithm>
#include <utility>

#include "base/environment.h"
#include "base/log.h"
#include "communicator/setup/setup.h"

namespace hocket::communicator {

using engines::shared_memory::Member;
using engines::shared_memory::MemoryTransport;
using engines::shared_memory::NodeGroup;
using engines::shared_memory::RankBlock;

// All ranks of the job get room for notices.
size_t Setup::block_bytes(bool is_of_whole_job) const {
  const size_t bytes = RankBlock::bytes(bootstrap_.size);
  return is_of_whole_job ? bytes + sizeof(engines::shared_memory::NoticeBoard) : bytes;
}

std::vector<platform::Address> Setup::addresses_here() const {
  std::vector<platform::Address> addresses;
  for (const uint32_t rank : ranks_here()) addresses.push_back(all_[rank].address);
  return addresses;
}

Status Setup::connect() {
  const std::vector<platform::Address> addresses = addresses_here();
  // Two threads must not both connect to a peer that is new to them. Nothing else is done under the lock: rounds of
  // the bootstrap would deadlock where threads set up communicators in different orders.
  const std::scoped_lock lock(context_.setup_mutex());
  if (needs_one_round()) {
    if (auto known = context_.connector().known(addresses); known) {
      parts_.participants.peers = std::move(*known);
      return Status::ok();
    }
  }
  if (waits_for_none_) return {Code::kNotSupported, "ranks would have to connect with each other"};
  const uint64_t meeting = meeting_number();
  Result<std::vector<std::shared_ptr<platform::Peer>>> peers =
      context_.connector().connect_all(addresses, context_.setup_timeout_ms(), meeting);
  if (!peers.is_ok()) {
    farewell_ = context_.connector().give_up(meeting, std::move(reserve_));
    return peers.take_status();
  }
  parts_.participants.peers = peers.take();
  return Status::ok();
}

std::string Setup::judge_cross_memory() {
  using Wish = CrossMemoryTrial::Wish;
  const Wish wish = all_[0].cross_memory;
  if (wish == Wish::kOff) return "switched off by HOCKET_CMA";
  if (wish == Wish::kAutomatic && !is_within_job()) return "ranks of several jobs";
  const std::vector<uint32_t> here = ranks_here();
  if (here.size() == 1) return "";
  const auto mine = static_cast<size_t>(std::find(here.begin(), here.end(), bootstrap_.rank) - here.begin());
  const Introduction& neighbour = all_[here[(mine + 1) % here.size()]];
  const auto process = static_cast<int>(neighbour.address.process);
  std::string against = CrossMemoryTrial::try_reading(process, neighbour.trial_address, neighbour.address.nonce[0]);
  if (!against.empty() || wish == Wish::kOn) return against;
  // One rank of a node times for all of them: on shared cores they would time each other's waits.
  if (mine != 0) return "";
  // Threads of one process would time their own memory, which says nothing about others'.
  if (neighbour.address.process == mine_.address.process) return "ranks of one process";
  const std::scoped_lock lock(context_.setup_mutex());
  std::optional<std::string>& measured = context_.cross_memory_verdict();
  if (!measured && trial_) measured = trial_->time(process, neighbour.trial_address, context_.region());
  return measured.value_or("");
}

// Where this rank's node has its memory, and the first track's part of it.
Status Setup::map_group() {
  Participants& participants = parts_.participants;
  const bool are_whole_job = is_whole_job();
  const size_t bytes = block_bytes(are_whole_job);
  std::vector<Member> members;
  uint32_t place = 0;
  for (const uint32_t rank : ranks_here()) {
    const auto next = static_cast<uint32_t>(members.size());
    if (rank == bootstrap_.rank) place = next;
    platform::Window window{context_.region().base(), context_.region().limit()};
    platform::MappedRegion* region = nullptr;
    if (rank != bootstrap_.rank) {
      region = &participants.peers[next]->region();
      Result<platform::Window> reached = region->reach(all_[rank].block_offset + bytes);
      if (!reached.is_ok()) return reached.take_status();
      window = reached.value();
    }
    members.push_back({reinterpret_cast<RankBlock*>(window.base + all_[rank].block_offset), window,
                       static_cast<int>(all_[rank].address.process), rank, region});
  }
  const bool asymmetric =
      std::all_of(all_.begin(), all_.end(), [](const Introduction& one) { return one.asymmetric_barrier != 0; });
  participants.have_notices = are_whole_job && !participants.span_nodes();
  participants.group = std::make_unique<NodeGroup>(place, std::move(members), context_.shared_region(), asymmetric);
  parts_.lane = MemoryTransport::create_promised(*participants.group, 0);
  has_promise_ = false;  // it is the lane's
  if (participants.span_nodes()) parts_.channel = Tracks::make_channel(participants, 0);
  return Status::ok();
}

Status Setup::read_settings() {
  if (parts_.participants.span_nodes()) return Status::ok();  // gathered
  const std::byte* base = context_.region().base();
  if (bootstrap_.rank != 0) {
    Result<platform::Window> window =
        parts_.participants.peers[0]->region().reach(all_[0].settings_offset + all_[0].settings_bytes);
    if (!window.is_ok()) return window.take_status();
    base = window.value().base;
  }
  settings_text_.assign(reinterpret_cast<const char*>(base + all_[0].settings_offset), all_[0].settings_bytes);
  return Status::ok();
}

Status Setup::make_planner() {
  HOCKET_TRY(read_settings());
  Result<CommonSettings> settings = parse_common_settings(settings_text_, cores_of_ranks());
  if (!settings.is_ok()) return settings.take_status();
  const Participants& participants = parts_.participants;
  const Planner::Place where{bootstrap_.rank,
                             bootstrap_.size,
                             participants.nodes.get(),
                             participants.domains.get(),
                             context_.vocabulary() == Vocabulary::kMpi,
                             participants.caches.get(),
                             participants.sockets.get()};
  const std::string wire = all_[0].wire_name[0] != 0 ? all_[0].wire_name : context_.mpi_name();
  parts_.planner =
      std::make_unique<Planner>(where, parts_.policy.oversubscribed, engines::shared_memory::kSlotStagingBytes,
                                std::move(settings.value().table).under(wire));
  for (const auto& [collective, spec] : settings.value().forced) {
    const schedule::Nodes* over = participants.span_nodes() ? participants.nodes.get() : nullptr;
    const uint32_t nodes = over == nullptr ? 1 : over->count();
    if (const std::string why = selection::why_not_meant(collective, spec, bootstrap_.size, over); !why.empty()) {
      if (bootstrap_.rank == 0)
        HOCKET_LOG_INFO("a communicator of %u ranks on %u node%s: the table chooses, not %s: %s", bootstrap_.size,
                        nodes, nodes == 1 ? "" : "s", selection::to_text(spec).c_str(), why.c_str());
      continue;
    }
    parts_.planner->force(collective, spec);
  }
  return Status::ok();
}

carriers::EngineMeeting Setup::meeting() const {
  return {.rank = bootstrap_.rank,
          .size = bootstrap_.size,
          .nodes = parts_.participants.nodes.get(),
          .choices = parts_.planner.get(),
          .timeout_ms = context_.setup_timeout_ms()};
}

Status Setup::build() {
  HOCKET_TRY(connect());
  HOCKET_TRY(map_group());
  return make_planner();
}

Status Setup::join_and_judge(Outcome& outcome) {
  if (parts_.participants.span_nodes()) {
    std::vector<carriers::EngineOffers> offers;
    for (const Introduction& one : all_) offers.push_back(one.offers);
    HOCKET_TRY(engines_.join(offers, meeting(), outcome.engines));
  }
  const std::string against = judge_cross_memory();
  outcome.cross_memory = against.empty() ? 1 : 0;
  against.copy(outcome.no_cross_memory, sizeof outcome.no_cross_memory - 1);  // it is all zero
  if (against.empty() || all_[0].cross_memory != CrossMemoryTrial::Wish::kOn) return Status::ok();
  return {Code::kInvalidArgument, "HOCKET_CMA=on can't be honoured: " + against};
}

}  // namespace hocket::communicator
