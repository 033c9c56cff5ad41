// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/setup.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "base/environment.h"
#include "base/log.h"
#include "platform/tracing/tracer.h"

namespace hocket::communicator {

using engines::shared_memory::MemoryTransport;
using engines::shared_memory::NodeGroup;
using engines::shared_memory::RankBlock;

namespace {

constexpr uint32_t kFewCommunicators = 8;

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

// Rank 0's environment is everybody's: what it says lies in its shared memory, for as long as the context lives, since
// it has no way to know when all have read it.
Status Setup::write_settings() {
  context_.report_doubts();
  Result<std::string> text = read_common_settings();
  if (!text.is_ok()) return text.take_status();
  const std::scoped_lock lock(context_.setup_mutex());
  Context::WrittenSettings& written = context_.written_settings();
  if (!written.offset || written.text != text.value()) {
    void* const memory = context_.region().allocate(text.value().size());
    if (memory == nullptr) return Status(Code::kNoMemory, "no shared memory for settings; raise HOCKET_MEMORY");
    std::memcpy(memory, text.value().data(), text.value().size());
    written = {text.take(), context_.region().offset_of(memory)};
  }
  mine_.settings_offset = *written.offset;
  mine_.settings_bytes = written.text.size();
  return Status::ok();
}

Status Setup::introduce_wire() {
  engines::wire::Wire* wire = context_.wire();
  if (wire == nullptr) return Status::ok();
  mine_.wire_rank = wire->rank();
  gethostname(mine_.host, sizeof mine_.host - 1);
  mine_.wire_size = wire->size();
  mine_.wire_tags = wire->tags();
  wire->name().copy(mine_.wire_name, sizeof mine_.wire_name - 1);
  if (bootstrap_.rank == 0 && bootstrap_.size > 1) parts_.own_tag = context_.tags()->take();
  mine_.has_tag = parts_.own_tag ? 1 : 0;
  mine_.serial = context_.next_serial();
  mine_.tag = parts_.own_tag.value_or(0);
  return engines_.offer(bootstrap_.rank == 0, mine_.offers);
}

Status Setup::reserve_descriptor() {
  const std::scoped_lock lock(context_.setup_mutex());
  Result<platform::Descriptor> reserve = context_.connector().prepare();
  if (!reserve.is_ok()) return reserve.take_status();
  reserve_ = reserve.take();
  return Status::ok();
}

Status Setup::prepare_own() {
  if (bootstrap_.size > 1 && !waits_for_none_) HOCKET_TRY(reserve_descriptor());
  mine_.address = context_.connector().address();
  {
    const std::scoped_lock lock(context_.setup_mutex());
    mine_.has_met_all = context_.met_all().has_value() ? 1 : 0;
  }
  mine_.job = context_.job();
  mine_.number = context_.next_set_up();
  mine_.address_limit = context_.region().known_limit();
  const platform::CpuBudget& cpus = context_.cpus();
  mine_.cpus[0] = cpus.allowed_bits[0];
  mine_.cpus[1] = cpus.allowed_bits[1];
  mine_.quota = cpus.quota;
  // What has been settled for the whole job is not tried again.
  if (mine_.has_met_all == 0) trial_.emplace(mine_.address.nonce[0]);
  mine_.trial_address = trial_ ? trial_->address() : 0;
  Result<int> cross_memory = environment::get_enum("HOCKET_CMA");
  if (!cross_memory.is_ok()) return cross_memory.take_status();
  mine_.cross_memory = static_cast<CrossMemoryTrial::Wish>(cross_memory.value());
  Result<bool> checks = environment::get_flag("HOCKET_CHECK");
  if (!checks.is_ok()) return checks.take_status();
  mine_.checks_arguments = checks.value() ? 1 : 0;
  mine_.asymmetric_barrier = context_.asymmetric_barrier() ? 1 : 0;
  mine_.oversubscribed = context_.oversubscribed() ? 1 : 0;
  mine_.place = context_.place();
  HOCKET_TRY(introduce_wire());
  context_.region().share_among(bootstrap_.size);
  const size_t bytes = block_bytes(may_be_whole_job());
  // A few communicators pay for no page faults; of many, most are hardly used.
  const bool are_many = context_.communicators() >= kFewCommunicators;
  parts_.block =
      static_cast<RankBlock*>(are_many ? context_.region().allocate_sparse(bytes) : context_.region().allocate(bytes));
  if (parts_.block == nullptr) {
    return Status(Code::kNoMemory, "no shared memory for a communicator of " + std::to_string(bootstrap_.size) +
                                       " ranks (" + std::to_string(bytes) + " bytes); raise HOCKET_MEMORY");
  }
  mine_.block_offset = context_.region().offset_of(parts_.block);
  HOCKET_TRY(MemoryTransport::promise_staging(context_.region()));
  has_promise_ = true;
  return bootstrap_.rank == 0 ? write_settings() : Status::ok();
}

// All ranks learn what rank 0 wrote down for those that can read its memory. Piece by piece, since each rank gets
// every rank's, though only one has something to say.
Status Setup::gather_settings() {
  const uint64_t bytes = all_[0].settings_bytes;
  const std::byte* const own = context_.region().base() + mine_.settings_offset;  // rank 0's only
  SettingsPiece mine{};
  std::vector<SettingsPiece> all;
  for (uint64_t at = 0; at < bytes; at += sizeof mine.text) {
    const size_t length = std::min<uint64_t>(bytes - at, sizeof mine.text);
    if (bootstrap_.rank == 0) std::memcpy(mine.text, own + at, length);
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
    : context_(context), bootstrap_(bootstrap), engines_(context.engine_types()) {
  parts_.participants.rank = bootstrap.rank;
  parts_.participants.size = bootstrap.size;
}

Setup::~Setup() {
  if (reserve_.get() >= 0) {
    const std::scoped_lock lock(context_.setup_mutex());
    context_.connector().keep(std::move(reserve_));
  }
  if (has_promise_) MemoryTransport::redeem_staging(context_.region());
  if (is_finished_) return;
  // No peer has been told to use it.
  if (!is_announced_ && parts_.block != nullptr) context_.region().free(parts_.block);
  if (parts_.own_tag) context_.tags()->give_back(*parts_.own_tag);
  // Peers may know of this memory: it stays theirs until the context goes.
  if (is_announced_ && parts_.lane != nullptr) parts_.lane->abandon();
}

void Setup::use_cross_memory(bool is_used, const char* why_not) {
  const Participants& participants = parts_.participants;
  if (is_used && bootstrap_.size > 1) participants.group->allow_cross_memory();
  HOCKET_LOG_DEBUG("communicator of %u ranks, %u of them on this node: %u NUMA domains, %s, CMA: %s", bootstrap_.size,
                   participants.ranks_here(), participants.domains == nullptr ? 1 : participants.domains->count(),
                   parts_.policy.oversubscribed ? "ranks share cores" : "a core a rank", is_used ? "in use" : why_not);
}

void Setup::agree_on_cross_memory(const std::vector<Outcome>& outcomes) {
  const auto unwilling =
      std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& one) { return one.cross_memory == 0; });
  const bool is_used = unwilling == outcomes.end();
  use_cross_memory(is_used, is_used ? "" : unwilling->no_cross_memory);
  note_meeting(is_used);
}

void Setup::note_meeting(bool is_used) {
  // A wish for direct reading is judged each time.
  if (!is_whole_job() || parts_.participants.span_nodes() || all_[0].cross_memory == CrossMemoryTrial::Wish::kOn)
    return;
  const std::scoped_lock lock(context_.setup_mutex());
  context_.met_all() = is_used;
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

Status Setup::take_introductions() {
  HOCKET_TRY(agree(all_));
  if (platform::Tracer* const tracer = platform::Tracer::current(); tracer != nullptr)
    tracer->name_job(all_[0].address.identity[0]);
  HOCKET_TRY(find_nodes());
  // Not 0: its context's identity is random.
  parts_.participants.number = (all_[0].address.identity[0] ^ (all_[0].number + 1) * 0x9e3779b97f4a7c15ull) | 1;
  is_announced_ = true;
  for (const uint32_t rank : ranks_here()) context_.region().share_among(bootstrap_.size, all_[rank].address_limit);
  return Status::ok();
}

void Setup::agree_on_policy() {
  parts_.checks_arguments = all_[0].checks_arguments != 0;
  parts_.policy.mode = context_.wait_mode();
  parts_.policy.oversubscribed = find_oversubscribed();
  parts_.policy.slice_ns = context_.slice_ns();
  parts_.policy.has_hidden_peers = has_other_nodes_here();
}

namespace {

class UnderWay {
 public:
  explicit UnderWay(Context& context) : context_(context) { context_.set_up_begins(); }
  ~UnderWay() { context_.set_up_ends(); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  Context& context_;
};

}  // namespace

Result<std::unique_ptr<Communicator>> Setup::run() {
  const UnderWay under_way(context_);
  attempt(mine_, [&] { return prepare_own(); });
  HOCKET_TRY(gather_all(mine_, all_));
  HOCKET_TRY(take_introductions());  // the same on every rank: no second round
  if (parts_.participants.span_nodes()) HOCKET_TRY(gather_settings());
  agree_on_policy();
  return needs_one_round() ? build_without_asking() : build_and_agree();
}

Result<const void*> Setup::introduce() {
  waits_for_none_ = true;
  HOCKET_TRY(prepare_own());
  if (!is_known(mine_) || mine_.cross_memory == CrossMemoryTrial::Wish::kOn)
    return Status(Code::kNotSupported, "ranks would have to wait for each other");
  is_announced_ = true;
  return static_cast<const void*>(&mine_);
}

Result<std::unique_ptr<Communicator>> Setup::meet(const void* all) {
  const UnderWay under_way(context_);
  all_.resize(bootstrap_.size);
  std::memcpy(all_.data(), all, all_.size() * sizeof(Introduction));
  HOCKET_TRY(take_introductions());
  if (!needs_one_round()) return Status(Code::kNotSupported, "ranks would have to wait for each other");
  agree_on_policy();
  return build_without_asking();
}

bool Setup::is_known(const Introduction& one) { return one.has_met_all != 0 && one.address_limit == 0; }

// Ranks of another job may have met each other, and none of these.
bool Setup::is_within_job() const {
  return std::all_of(all_.begin(), all_.end(), [&](const Introduction& one) { return one.job == mine_.job; });
}

bool Setup::needs_one_round() const {
  return !parts_.participants.span_nodes() && all_[0].cross_memory != CrossMemoryTrial::Wish::kOn && is_within_job() &&
         std::all_of(all_.begin(), all_.end(), is_known);
}

// A table of rank 0's that can't be understood fails on all ranks alike. Whatever else fails, the system's refusal of
// addresses, say, does so on this rank alone: its peers find the communicator broken in their first call.
Result<std::unique_ptr<Communicator>> Setup::build_without_asking() {
  Outcome outcome;
  attempt(outcome, [&] { return build(); });
  if (outcome.failure[0] != '\0') {
    const auto code = static_cast<Code>(outcome.code);
    NodeGroup* const group = parts_.participants.group.get();
    if (group != nullptr && code != Code::kInvalidArgument) group->report_broken(bootstrap_.rank);
    return Status(code, outcome.failure);
  }
  bool is_used = false;
  {
    const std::scoped_lock lock(context_.setup_mutex());
    is_used = *context_.met_all();
  }
  use_cross_memory(is_used && all_[0].cross_memory != CrossMemoryTrial::Wish::kOff, "as in the whole job");
  return finish();
}

Result<std::unique_ptr<Communicator>> Setup::build_and_agree() {
  Outcome outcome;
  attempt(outcome, [&]() -> Status {
    HOCKET_TRY(build());
    return join_and_judge(outcome);
  });
  std::vector<Outcome> outcomes;
  HOCKET_TRY(gather_all(outcome, outcomes));
  if (Status agreed = agree(outcomes); !agreed.is_ok()) {
    give_back();
    return agreed;
  }
  HOCKET_TRY(agree_on_engines(outcomes));
  agree_on_cross_memory(outcomes);
  return finish();
}

// All ranks know by now that nothing comes of it, so that none touches what the others have shared for it. The process
// may be short of what it holds: addresses, descriptors.
void Setup::give_back() {
  parts_.channel.reset();
  parts_.lane.reset();
  parts_.participants.group.reset();
  parts_.participants.peers.clear();
  context_.region().free(std::exchange(parts_.block, nullptr));
  // Another thread's set-up may have come to rely on the same connections; they are kept, then.
  const std::scoped_lock lock(context_.setup_mutex());
  if (context_.set_ups_under_way() == 1) context_.connector().forget(addresses_here(), meeting_number());
}

Result<std::unique_ptr<Communicator>> Setup::finish() {
  if (parts_.policy.oversubscribed) context_.set_oversubscribed();
  // A tag that no messages between nodes need goes back.
  if (!parts_.participants.span_nodes() && parts_.own_tag)
    context_.tags()->give_back(*std::exchange(parts_.own_tag, std::nullopt));
  is_finished_ = true;
  return std::make_unique<Communicator>(context_, std::move(parts_));
}

}  // namespace hocket::communicator
