// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/setup.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "base/environment.h"
#include "base/log.h"

namespace hocket::communicator {

using engines::shared_memory::Member;
using engines::shared_memory::MemoryTransport;
using engines::shared_memory::NodeGroup;
using engines::shared_memory::RankBlock;

namespace {

template <size_t N>
void copy_text(const std::string& text, char (&into)[N]) {
  const size_t length = std::min(text.size(), N - 1);
  std::memcpy(into, text.data(), length);
  into[length] = '\0';
}

}  // namespace

// Also out of memory, a rank must take part in the rounds to come, or the others would wait for it.
template <typename T, typename Body>
void Setup::attempt(T& message, const Body& body) {
  Status status;
  try {
    status = body();
  } catch (const std::bad_alloc&) {
    status = Status(Code::kNoMemory, "out of memory");
  }
  if (status.is_ok()) return;
  message.code = static_cast<int32_t>(status.code());
  copy_text(status.message(), message.failure);
}

template <typename T>
Status Setup::gather_all(const T& mine, std::vector<T>& all) {
  all.resize(bootstrap_.size);
  return gather(&mine, all.data(), sizeof(T));
}

Status Setup::gather(const void* mine, void* all, size_t bytes) {
  if (bootstrap_.size == 1) {
    std::memcpy(all, mine, bytes);
    return Status::ok();
  }
  return bootstrap_.allgather(mine, all, bytes, bootstrap_.user) == 0
             ? Status::ok()
             : Status(Code::kSystem, "the bootstrap's all-gather failed");
}

template <typename T>
Status Setup::agree(const std::vector<T>& all) const {
  const auto fails = [](const T& one) { return one.failure[0] != '\0'; };
  auto first = std::find_if(all.begin(), all.end(), [&](const T& one) {
    const auto code = static_cast<Code>(one.code);
    return fails(one) && code != Code::kPeerFailed && code != Code::kTimeout;
  });
  if (first == all.end()) first = std::find_if(all.begin(), all.end(), fails);
  if (first == all.end()) return Status::ok();
  return {static_cast<Code>(first->code), "rank " + std::to_string(first - all.begin()) + ": " + first->failure};
}

// --- first round
// ------------------------------------------------------------------------------------------------------

// Rank 0's environment is everybody's: what it says lies in its shared memory.
Status Setup::write_settings() {
  context_.report_doubts();
  Result<std::string> text = read_common_settings();
  if (!text.is_ok()) return text.take_status();
  const std::string& written = text.value();
  settings_ = static_cast<std::byte*>(context_.region().allocate(written.size()));
  if (settings_ == nullptr) return Status(Code::kNoMemory, "no shared memory for settings; raise HOCKET_MEMORY");
  std::memcpy(settings_, written.data(), written.size());
  mine_.settings_offset = context_.region().offset_of(settings_);
  mine_.settings_bytes = written.size();
  return Status::ok();
}

Status Setup::introduce_wire() {
  engines::wire::Wire* wire = context_.wire();
  if (wire == nullptr) return Status::ok();
  mine_.wire_rank = wire->rank();
  mine_.wire_size = wire->size();
  mine_.wire_tags = wire->tags();
  wire->name().copy(mine_.wire_name, sizeof mine_.wire_name - 1);
  if (bootstrap_.rank == 0 && bootstrap_.size > 1) parts_.own_tag = context_.tags()->take();
  mine_.has_tag = parts_.own_tag ? 1 : 0;
  mine_.serial = context_.next_serial();
  mine_.tag = parts_.own_tag.value_or(0);
  return engines_.offer(bootstrap_.rank == 0, mine_.offers);
}

Status Setup::prepare_own() {
  if (bootstrap_.size > 1) {
    const std::scoped_lock lock(context_.setup_mutex());
    Result<platform::Descriptor> reserve = context_.connector().prepare();
    if (!reserve.is_ok()) return reserve.take_status();
    reserve_ = reserve.take();
  }
  mine_.address = context_.connector().address();
  mine_.number = context_.next_set_up();
  mine_.address_limit = context_.region().known_limit();
  const platform::CpuBudget& cpus = context_.cpus();
  mine_.cpus[0] = cpus.allowed_bits[0];
  mine_.cpus[1] = cpus.allowed_bits[1];
  mine_.quota = cpus.quota;
  mine_.trial_address = trial_.address();
  Result<int> cross_memory = environment::get_enum("HOCKET_CMA");
  if (!cross_memory.is_ok()) return cross_memory.take_status();
  mine_.cross_memory = static_cast<CrossMemoryTrial::Wish>(cross_memory.value());
  Result<bool> checks = environment::get_flag("HOCKET_CHECK");
  if (!checks.is_ok()) return checks.take_status();
  mine_.checks_arguments = checks.value() ? 1 : 0;
  mine_.asymmetric_barrier = context_.asymmetric_barrier() ? 1 : 0;
  mine_.oversubscribed = context_.oversubscribed() ? 1 : 0;
  mine_.domain = context_.domain();
  HOCKET_TRY(introduce_wire());
  context_.region().share_among(bootstrap_.size);
  const size_t bytes = RankBlock::bytes(bootstrap_.size);
  parts_.block = static_cast<RankBlock*>(context_.region().allocate(bytes));
  if (parts_.block == nullptr) {
    return Status(Code::kNoMemory, "no shared memory for a communicator of " + std::to_string(bootstrap_.size) +
                                       " ranks (" + std::to_string(bytes) + " bytes); raise HOCKET_MEMORY");
  }
  mine_.block_offset = context_.region().offset_of(parts_.block);
  return bootstrap_.rank == 0 ? write_settings() : Status::ok();
}

// All ranks learn what rank 0 wrote down for those that can read its memory. Piece by piece, since each rank gets
// every rank's, though only one has something to say.
Status Setup::gather_settings() {
  const uint64_t bytes = all_[0].settings_bytes;
  SettingsPiece mine{};
  std::vector<SettingsPiece> all;
  for (uint64_t at = 0; at < bytes; at += sizeof mine.text) {
    const size_t length = std::min<uint64_t>(bytes - at, sizeof mine.text);
    if (bootstrap_.rank == 0) std::memcpy(mine.text, settings_ + at, length);
    HOCKET_TRY(gather_all(mine, all));
    settings_text_.append(all[0].text, length);
  }
  return Status::ok();
}

std::vector<uint32_t> Setup::ranks_here() const {
  if (parts_.participants.span_nodes()) {
    const schedule::Nodes& nodes = *parts_.participants.nodes;
    return nodes.ranks_of(nodes.node_of(bootstrap_.rank));
  }
  std::vector<uint32_t> all(bootstrap_.size);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

Setup::Setup(Context& context, const Bootstrap& bootstrap)
    : context_(context),
      bootstrap_(bootstrap),
      trial_(context.connector().address().nonce[0]),
      engines_(context.engine_types()) {
  parts_.participants.rank = bootstrap.rank;
  parts_.participants.size = bootstrap.size;
}

Setup::~Setup() {
  if (reserve_.get() >= 0) {
    const std::scoped_lock lock(context_.setup_mutex());
    context_.connector().keep(std::move(reserve_));
  }
  if (is_finished_) return;
  if (parts_.own_tag) context_.tags()->give_back(*parts_.own_tag);
  // Peers may know of this memory: it stays theirs until the context goes.
  if (parts_.lane != nullptr) parts_.lane->abandon();
}

void Setup::let_go() {
  if (settings_ != nullptr) context_.region().free(settings_);
  settings_ = nullptr;
}

Status Setup::connect() {
  std::vector<platform::Address> addresses;
  for (const uint32_t rank : ranks_here()) addresses.push_back(all_[rank].address);
  // Two threads must not both connect to a peer that is new to them. Nothing else is done under the lock: rounds of
  // the bootstrap would deadlock where threads set up communicators in different orders.
  const std::scoped_lock lock(context_.setup_mutex());
  const uint64_t meeting = all_[0].address.identity[0] + all_[0].number;
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
  const std::vector<uint32_t> here = ranks_here();
  if (here.size() == 1) return "";
  const auto mine = static_cast<size_t>(std::find(here.begin(), here.end(), bootstrap_.rank) - here.begin());
  const Introduction& neighbour = all_[here[(mine + 1) % here.size()]];
  const auto process = static_cast<int>(neighbour.address.process);
  std::string against = CrossMemoryTrial::try_reading(process, neighbour.trial_address, neighbour.address.nonce[0]);
  if (!against.empty() || wish == Wish::kOn) return against;
  // Threads of one process would time their own memory, which says nothing about others'.
  if (neighbour.address.process == mine_.address.process) return "ranks of one process";
  const std::scoped_lock lock(context_.setup_mutex());
  std::optional<std::string>& measured = context_.cross_memory_verdict();
  if (!measured) measured = trial_.time(process, neighbour.trial_address, context_.region());
  return *measured;
}

// Where this rank's node has its memory, and the first track's part of it.
Status Setup::map_group() {
  Participants& participants = parts_.participants;
  std::vector<Member> members;
  uint32_t place = 0;
  for (const uint32_t rank : ranks_here()) {
    const auto next = static_cast<uint32_t>(members.size());
    if (rank == bootstrap_.rank) place = next;
    platform::Window window{context_.region().base(), context_.region().limit()};
    platform::MappedRegion* region = nullptr;
    if (rank != bootstrap_.rank) {
      region = &participants.peers[next]->region();
      Result<platform::Window> reached = region->reach(all_[rank].block_offset + RankBlock::bytes(bootstrap_.size));
      if (!reached.is_ok()) return reached.take_status();
      window = reached.value();
    }
    members.push_back({reinterpret_cast<RankBlock*>(window.base + all_[rank].block_offset), window,
                       static_cast<int>(all_[rank].address.process), rank, region});
  }
  const bool asymmetric =
      std::all_of(all_.begin(), all_.end(), [](const Introduction& one) { return one.asymmetric_barrier != 0; });
  participants.group = std::make_unique<NodeGroup>(place, std::move(members), context_.shared_region(), asymmetric);
  Result<std::unique_ptr<MemoryTransport>> lane = MemoryTransport::create(*participants.group, 0);
  if (!lane.is_ok()) return lane.take_status();
  parts_.lane = lane.take();
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
  Result<CommonSettings> settings = parse_common_settings(settings_text_);
  if (!settings.is_ok()) return settings.take_status();
  const Participants& participants = parts_.participants;
  const Planner::Place where{bootstrap_.rank, bootstrap_.size, participants.nodes.get(), participants.domains.get()};
  parts_.planner =
      std::make_unique<Planner>(where, parts_.policy.oversubscribed, engines::shared_memory::kSlotStagingBytes,
                                std::move(settings.value().table).under(all_[0].wire_name));
  for (const auto& [collective, spec] : settings.value().forced) {
    if (!selection::is_forced_over(participants.span_nodes() ? participants.nodes->count() : 1, spec)) {
      if (bootstrap_.rank == 0)
        HOCKET_LOG_INFO("a communicator of %u ranks on one node: the table chooses, since %s goes between nodes",
                        bootstrap_.size, selection::to_text(spec).c_str());
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

// --- second round
// -----------------------------------------------------------------------------------------------------

Status Setup::connect_and_build(Outcome& outcome) {
  HOCKET_TRY(connect());
  HOCKET_TRY(map_group());
  HOCKET_TRY(make_planner());
  if (parts_.participants.span_nodes()) {
    std::vector<carriers::EngineOffers> offers;
    for (const Introduction& one : all_) offers.push_back(one.offers);
    HOCKET_TRY(engines_.join(offers, meeting(), outcome.engines));
  }
  const std::string against = judge_cross_memory();
  outcome.cross_memory = against.empty() ? 1 : 0;
  copy_text(against, outcome.no_cross_memory);
  if (against.empty() || all_[0].cross_memory != CrossMemoryTrial::Wish::kOn) return Status::ok();
  return {Code::kInvalidArgument, "HOCKET_CMA=on can't be honoured: " + against};
}

void Setup::agree_on_cross_memory(const std::vector<Outcome>& outcomes) {
  const auto unwilling =
      std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& one) { return one.cross_memory == 0; });
  const bool is_used = unwilling == outcomes.end();
  const Participants& participants = parts_.participants;
  if (is_used && bootstrap_.size > 1) participants.group->allow_cross_memory();
  HOCKET_LOG_DEBUG("communicator of %u ranks, %u of them on this node: %u NUMA domains, %s, CMA: %s", bootstrap_.size,
                   participants.ranks_here(), participants.domains == nullptr ? 1 : participants.domains->count(),
                   parts_.policy.oversubscribed ? "ranks share cores" : "a core a rank",
                   is_used ? "in use" : unwilling->no_cross_memory);
}

Status Setup::agree_on_engines(const std::vector<Outcome>& outcomes) {
  if (!parts_.participants.span_nodes()) return Status::ok();
  std::vector<carriers::EngineReports> reports;
  for (const Outcome& one : outcomes) reports.push_back(one.engines);
  // Unless all agree, messages may be under way with the tags, which then must not serve another communicator.
  const std::optional<uint32_t> tag = std::exchange(parts_.own_tag, std::nullopt);
  Result<carriers::Engines> engines = engines_.agree(reports, *parts_.channel, *this);
  if (!engines.is_ok()) return engines.take_status();
  parts_.own_tag = tag;
  parts_.engines = engines.take();
  return Status::ok();
}

Result<std::unique_ptr<Communicator>> Setup::run() {
  attempt(mine_, [&] { return prepare_own(); });
  HOCKET_TRY(gather_all(mine_, all_));
  Status status = agree(all_);
  if (status.is_ok()) status = find_nodes();
  if (!status.is_ok()) {
    let_go();
    return status;  // the same on every rank: no second round
  }
  for (const uint32_t rank : ranks_here()) context_.region().share_among(bootstrap_.size, all_[rank].address_limit);
  if (parts_.participants.span_nodes()) status = gather_settings();
  if (!status.is_ok()) {
    let_go();
    return status;
  }
  parts_.checks_arguments = all_[0].checks_arguments != 0;
  parts_.policy.mode = context_.wait_mode();
  parts_.policy.oversubscribed = find_oversubscribed();
  parts_.policy.slice_ns = context_.slice_ns();
  parts_.policy.has_hidden_peers = has_other_nodes_here();
  Outcome outcome;
  attempt(outcome, [&] { return connect_and_build(outcome); });
  std::vector<Outcome> outcomes;
  HOCKET_TRY(gather_all(outcome, outcomes));
  let_go();
  HOCKET_TRY(agree(outcomes));
  HOCKET_TRY(agree_on_engines(outcomes));
  agree_on_cross_memory(outcomes);
  if (parts_.policy.oversubscribed) context_.set_oversubscribed();
  // A tag that no messages between nodes need goes back.
  if (!parts_.participants.span_nodes() && parts_.own_tag)
    context_.tags()->give_back(*std::exchange(parts_.own_tag, std::nullopt));
  is_finished_ = true;
  return std::make_unique<Communicator>(context_, std::move(parts_));
}

}  // namespace hocket::communicator
