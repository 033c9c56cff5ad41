// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <new>
#include <numeric>
#include <sstream>
#include <utility>

#include "base/environment.h"
#include "base/log.h"

namespace hocket::communicator {

using engines::shared_memory::Group;
using engines::shared_memory::Member;
using engines::shared_memory::RankBlock;

namespace {

template <size_t N>
void copy_text(const std::string& text, char (&into)[N]) {
  const size_t length = std::min(text.size(), N - 1);
  std::memcpy(into, text.data(), length);
  into[length] = '\0';
}

constexpr std::string_view kNoTable = "";

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
Status Setup::gather(const T& mine, std::vector<T>& all) {
  all.resize(bootstrap_.size);
  if (bootstrap_.size == 1) {
    all[0] = mine;
    return Status::ok();
  }
  if (bootstrap_.allgather(&mine, all.data(), sizeof(T), bootstrap_.user) != 0) {
    return Status(Code::kSystem, "the bootstrap's all-gather failed");
  }
  return Status::ok();
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

// Rank 0's environment is everybody's: its forced choices and its table, as text in its shared memory.
// One line a forced collective, "allreduce ring"; then an empty line, then the table.
Status Setup::write_settings() {
  context_.tell_doubts();
  std::ostringstream text;
  for (int i = 0; i < schedule::kCollectives; ++i) {
    const auto collective = static_cast<schedule::Collective>(i);
    const std::string variable = selection::forcing_variable(collective);
    Result<std::string> spec = environment::get_text(variable.c_str());
    if (!spec.is_ok()) return spec.take_status();
    if (spec.value().empty()) continue;
    if (Status parsed = selection::parse_spec(collective, spec.value()).take_status(); !parsed.is_ok()) {
      return Status(Code::kInvalidArgument, variable + "=" + spec.value() + ": " + parsed.message());
    }
    text << name(collective) << ' ' << spec.value() << '\n';
  }
  text << '\n';
  Result<std::string> path = environment::get_text("HOCKET_TABLE");
  if (!path.is_ok()) return path.take_status();
  if (!path.value().empty()) {
    HOCKET_TRY(selection::Table::load(path.value()).take_status());
    text << std::ifstream(path.value()).rdbuf();
  }
  const std::string written = text.str();
  settings_ = static_cast<std::byte*>(context_.region().allocate(written.size()));
  if (settings_ == nullptr) return Status(Code::kNoMemory, "no shared memory for settings; raise HOCKET_MEMORY");
  std::memcpy(settings_, written.data(), written.size());
  mine_.settings_offset = context_.region().offset_of(settings_);
  mine_.settings_bytes = written.size();
  return Status::ok();
}

Status Setup::read_settings(selection::Table& table) {
  if (communicator_->nodes_ == nullptr) {
    const std::byte* base = context_.region().base();
    if (bootstrap_.rank != 0) {
      Result<platform::Window> window =
          communicator_->peers_[0]->region().reach(all_[0].settings_offset + all_[0].settings_bytes);
      if (!window.is_ok()) return window.take_status();
      base = window.value().base;
    }
    settings_text_.assign(reinterpret_cast<const char*>(base + all_[0].settings_offset), all_[0].settings_bytes);
  }
  std::istringstream lines(settings_text_);
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    const size_t space = line.find(' ');
    const auto collective = schedule::collective_from_name(line.substr(0, space));
    if (!collective) return Status(Code::kSystem, "rank 0 runs another version of hocket");
    Result<selection::Spec> spec = selection::parse_spec(*collective, line.substr(space + 1));
    if (!spec.is_ok()) return spec.take_status();
    forced_.emplace_back(*collective, spec.value());
  }
  std::ostringstream rest;
  rest << lines.rdbuf();
  table = selection::Table::shipped();
  if (rest.str() == kNoTable) return Status::ok();
  Result<selection::Table> parsed = selection::Table::parse(rest.str(), "HOCKET_TABLE of rank 0");
  if (!parsed.is_ok()) return parsed.take_status();
  table = parsed.take();
  return Status::ok();
}

Status Setup::prepare_own() {
  if (bootstrap_.size > 1) {
    const std::scoped_lock lock(context_.setup_mutex());
    Result<platform::Descriptor> reserve = context_.rendezvous().prepare();
    if (!reserve.is_ok()) return reserve.take_status();
    reserve_ = reserve.take();
  }
  mine_.address = context_.rendezvous().address();
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
  mine_.crowded = context_.crowded() ? 1 : 0;
  mine_.domain = context_.domain();
  if (context_.wire() != nullptr) {
    mine_.wire_rank = context_.wire()->rank();
    mine_.wire_size = context_.wire()->size();
    mine_.wire_tags = context_.wire()->tags();
    context_.wire()->name().copy(mine_.wire_name, sizeof mine_.wire_name - 1);
    if (bootstrap_.rank == 0 && bootstrap_.size > 1) own_tag_ = context_.tags()->take();
    mine_.has_tag = own_tag_ ? 1 : 0;
    mine_.serial = context_.next_serial();
    mine_.tag = own_tag_.value_or(0);
    Result<NicPath::Offer> nic = NicPath::offer(context_, bootstrap_.rank == 0);
    if (!nic.is_ok()) return nic.take_status();
    mine_.nic = nic.value();
    Result<MulticastPath::Offer> multicast = MulticastPath::offer(bootstrap_.rank == 0);
    if (!multicast.is_ok()) return multicast.take_status();
    mine_.multicast = multicast.value();
  }
  context_.region().share_among(bootstrap_.size);
  const size_t bytes = RankBlock::bytes(bootstrap_.size);
  communicator_->block_ = static_cast<RankBlock*>(context_.region().allocate(bytes));
  if (communicator_->block_ == nullptr) {
    return Status(Code::kNoMemory, "no shared memory for a communicator of " + std::to_string(bootstrap_.size) +
                                       " ranks (" + std::to_string(bytes) + " bytes); raise HOCKET_MEMORY");
  }
  mine_.block_offset = context_.region().offset_of(communicator_->block_);
  return bootstrap_.rank == 0 ? write_settings() : Status::ok();
}

// Everybody learns what rank 0 wrote down for those who can read its memory. Piece by piece, since each rank hears
// every rank's, though only one has something to say.
Status Setup::gather_settings() {
  const uint64_t bytes = all_[0].settings_bytes;
  SettingsPiece mine{};
  std::vector<SettingsPiece> all;
  for (uint64_t at = 0; at < bytes; at += sizeof mine.text) {
    const size_t length = std::min<uint64_t>(bytes - at, sizeof mine.text);
    if (bootstrap_.rank == 0) std::memcpy(mine.text, settings_ + at, length);
    HOCKET_TRY(gather(mine, all));
    settings_text_.append(all[0].text, length);
  }
  return Status::ok();
}

// How many others each rank has heard by multicast; kNotMet: it has not even had messages from its neighbours.
Status Setup::gather_heard(std::vector<uint32_t>& heard) {
  engines::wire::Channel& channel = *communicator_->tracks_[0]->channel();
  const bool has_met = multicast_->meet_neighbours(channel, context_.setup_timeout_ms());
  HOCKET_TRY(gather(has_met ? uint32_t{0} : kNotMet, heard));
  if (std::find(heard.begin(), heard.end(), kNotMet) != heard.end()) return Status::ok();
  return gather(multicast_->probe(), heard);
}

std::vector<uint32_t> Setup::ranks_here() const {
  if (communicator_->nodes_ != nullptr) {
    const schedule::Nodes& nodes = *communicator_->nodes_;
    return nodes.ranks_of(nodes.node_of(bootstrap_.rank));
  }
  std::vector<uint32_t> all(bootstrap_.size);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

Setup::~Setup() {
  if (reserve_.get() >= 0) {
    const std::scoped_lock lock(context_.setup_mutex());
    context_.rendezvous().keep(std::move(reserve_));
  }
  if (own_tag_) context_.tags()->give_back(*own_tag_);
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
      context_.rendezvous().connect_all(addresses, context_.setup_timeout_ms(), meeting);
  if (!peers.is_ok()) {
    farewell_ = context_.rendezvous().give_up(meeting, std::move(reserve_));
    return peers.take_status();
  }
  communicator_->peers_ = peers.take();
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

Status Setup::build(bool crowded, bool asymmetric) {
  Communicator& made = *communicator_;
  std::vector<Member> members;
  uint32_t place = 0;
  for (const uint32_t rank : ranks_here()) {
    const auto next = static_cast<uint32_t>(members.size());
    if (rank == bootstrap_.rank) place = next;
    platform::Window window{context_.region().base(), context_.region().limit()};
    platform::MappedRegion* region = nullptr;
    if (rank != bootstrap_.rank) {
      region = &made.peers_[next]->region();
      Result<platform::Window> reached = region->reach(all_[rank].block_offset + RankBlock::bytes(bootstrap_.size));
      if (!reached.is_ok()) return reached.take_status();
      window = reached.value();
    }
    members.push_back({reinterpret_cast<RankBlock*>(window.base + all_[rank].block_offset), window,
                       static_cast<int>(all_[rank].address.process), rank, region});
  }
  made.group_ = std::make_unique<Group>(place, std::move(members), context_.shared_region(), asymmetric);
  Result<std::unique_ptr<Track>> track = made.make_track(0);
  if (!track.is_ok()) return track.take_status();
  made.tracks_[0] = track.take();

  selection::Table table;
  HOCKET_TRY(read_settings(table));
  const Planner::Place where{bootstrap_.rank, bootstrap_.size, made.nodes_.get(), made.domains_.get()};
  made.planner_ = std::make_unique<Planner>(where, crowded, engines::shared_memory::kSlotStagingBytes,
                                            std::move(table).under(all_[0].wire_name));
  for (const auto& [collective, spec] : forced_) {
    if (!selection::is_forced_over(made.nodes_ == nullptr ? 1 : made.nodes_->count(), spec)) {
      if (bootstrap_.rank == 0)
        HOCKET_LOG_INFO("a communicator of %u ranks on one node: the table chooses, since %s goes between nodes",
                        bootstrap_.size, selection::to_text(spec).c_str());
      continue;
    }
    made.planner_->force(collective, spec);
  }
  platform::WaitPolicy policy;
  policy.mode = context_.wait_mode();
  policy.crowded = crowded;
  policy.slice_ns = context_.slice_ns();
  std::vector<platform::Turn*> turns;
  for (uint32_t peer = 0; peer < made.ranks_here(); ++peer) turns.push_back(&made.group_->member(peer).block->turn);
  made.turns_ = std::make_unique<platform::Turns>(std::move(turns), place);
  policy.turns = made.turns_.get();
  policy.has_hidden_peers = has_other_nodes_here();
  made.checks_arguments_ = all_[0].checks_arguments != 0;
  made.waiter_ = std::make_unique<platform::Waiter>(policy);
  return Status::ok();
}

Result<std::unique_ptr<Communicator>> Setup::run() {
  communicator_.reset(new Communicator(context_));
  communicator_->rank_ = bootstrap_.rank;
  communicator_->size_ = bootstrap_.size;
  attempt(mine_, [&] { return prepare_own(); });
  HOCKET_TRY(gather(mine_, all_));
  Status status = agree(all_);
  if (status.is_ok()) status = find_nodes();
  if (!status.is_ok()) {
    let_go();
    return status;  // the same on every rank: no second round
  }
  for (const uint32_t rank : ranks_here()) context_.region().share_among(bootstrap_.size, all_[rank].address_limit);
  if (communicator_->nodes_ != nullptr) status = gather_settings();
  if (!status.is_ok()) {
    let_go();
    return status;
  }

  const bool crowded = find_crowded();
  const bool asymmetric =
      std::all_of(all_.begin(), all_.end(), [](const Introduction& one) { return one.asymmetric_barrier != 0; });
  Outcome outcome;
  attempt(outcome, [&]() -> Status {
    HOCKET_TRY(connect());
    HOCKET_TRY(build(crowded, asymmetric));
    HOCKET_TRY(join_nic(outcome));
    HOCKET_TRY(join_multicast(outcome));
    const std::string against = judge_cross_memory();
    outcome.cross_memory = against.empty() ? 1 : 0;
    copy_text(against, outcome.no_cross_memory);
    if (against.empty() || all_[0].cross_memory != CrossMemoryTrial::Wish::kOn) return Status::ok();
    return {Code::kInvalidArgument, "HOCKET_CMA=on can't be honoured: " + against};
  });
  std::vector<Outcome> outcomes;
  HOCKET_TRY(gather(outcome, outcomes));
  let_go();
  HOCKET_TRY(agree(outcomes));
  const auto unwilling =
      std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& one) { return one.cross_memory == 0; });
  if (unwilling == outcomes.end() && bootstrap_.size > 1) communicator_->group_->allow_cross_memory();
  if (communicator_->nodes_ != nullptr) agree_on_nic(outcomes);
  if (communicator_->nodes_ != nullptr) HOCKET_TRY(agree_on_multicast(outcomes));
  communicator_->equip(*communicator_->tracks_[0], 0);
  if (communicator_->nodes_ != nullptr) communicator_->own_tag_ = std::exchange(own_tag_, std::nullopt);
  if (crowded) context_.set_crowded();
  communicator_->waiter_->prepare();
  const schedule::Nodes* domains = communicator_->domains_.get();
  HOCKET_LOG_DEBUG("communicator of %u ranks, %u of them on this node: %u NUMA domains, %s, %s, CMA: %s",
                   bootstrap_.size, communicator_->ranks_here(), domains == nullptr ? 1 : domains->count(),
                   crowded ? "ranks share cores" : "a core a rank", asymmetric ? "asymmetric barrier" : "fences",
                   unwilling == outcomes.end() ? "in use" : unwilling->no_cross_memory);
  return std::move(communicator_);
}

Result<std::unique_ptr<Communicator>> Communicator::create(Context& context, const Bootstrap& bootstrap) {
  return Setup(context, bootstrap).run();
}

}  // namespace hocket::communicator
