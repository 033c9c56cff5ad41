// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/recording.h"

#include <algorithm>
#include <charconv>

#include "lab/packets/impairment.h"
#include "protocol/page.h"

namespace hocket::lab {

static_assert(int{LAB_ENGINE_MAGIC} == int{NIC_MAGIC} && int{LAB_ENGINE_DOORBELL} == int{NIC_DOORBELL});
static_assert(LAB_ENGINE_WORDS * sizeof(uint64_t) == NIC_HEADER_BYTES);
static_assert(LAB_HITS == std::size(kImpairments));

namespace {

constexpr uint32_t bit_of(lab_hit hit) { return 1U << hit; }
constexpr uint32_t kGone = bit_of(LAB_HIT_Loss) | bit_of(LAB_HIT_Cut);
constexpr uint32_t kHeld = bit_of(LAB_HIT_Delay) | bit_of(LAB_HIT_Reorder);

// A packet that was not seen to be sent.
constexpr uint16_t kNowhere = 0xffff;

constexpr const char* kKinds[] = {"",      "message", "nack",  "alive", "probe", "ack",
                                  "abort", "veto",    "later", "owed",  "gone"};
static_assert(std::size(kKinds) == NIC_KINDS);

bool is_of_schedule(const nic_message& message) {
  return message.kind == NIC_MESSAGE || message.kind == NIC_VETO || message.kind == NIC_OWED;
}

int node_of(uint16_t link) { return link / 2; }

// One line of JSON. nlohmann's would take more time than the packets.
class Line {
 public:
  explicit Line(std::string_view record) { text("record", record); }
  Line& text(std::string_view name, std::string_view value) {
    begin(name);
    line_.append(1, '"').append(value).append(1, '"');
    return *this;
  }
  Line& number(std::string_view name, uint64_t value) {
    begin(name);
    append(value);
    return *this;
  }
  Line& nothing(std::string_view name) {
    begin(name);
    line_ += "null";
    return *this;
  }
  Line& group(uint64_t id) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string digits(16, '0');
    for (size_t i = 0; i < digits.size(); ++i) digits[i] = kDigits[id >> (60 - 4 * i) & 15];
    return text("group", digits);
  }
  Line& effects(uint32_t hits) {
    begin("effects");
    open('[');
    for (const ImpairmentFacts& facts : kImpairments) {
      if ((hits >> static_cast<unsigned>(facts.kind) & 1) == 0) continue;
      separate();
      line_.append(1, '"').append(facts.name).append(1, '"');
    }
    return close(']');
  }
  // Of the call, as in a packet and in a doorbell.
  Line& call(const nic_message& message) {
    return number("root", message.root)
        .number("words", message.words)
        .number("operation", message.operation)
        .number("type", message.type);
  }
  Line& begin(std::string_view name) {
    separate();
    line_.append(1, '"').append(name).append("\":");
    return *this;
  }
  Line& open(char bracket) {
    line_ += bracket;
    is_first_ = true;
    return *this;
  }
  Line& close(char bracket) {
    line_ += bracket;
    is_first_ = false;
    return *this;
  }
  Line& element(uint64_t value) {
    separate();
    append(value);
    return *this;
  }
  void separate() {
    if (!is_first_) line_ += ',';
    is_first_ = false;
  }
  const std::string& end() { return close('}').line_ += '\n'; }

 private:
  void append(uint64_t value) {
    char digits[24];
    line_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }

  std::string line_ = "{";
  bool is_first_ = true;
};

}  // namespace

size_t Recording::Hash::operator()(const Words& words) const {
  return words[4] ^ words[2] * 0x9e3779b97f4a7c15;  // the tag, and the epoch
}

unsigned Recording::Way::expected() const {
  if ((hits & kGone) != 0) return 0;
  return (hits & bit_of(LAB_HIT_Duplicate)) != 0 ? 2 : 1;
}

Recording::Recording(const std::vector<MacAddress>& addresses, uint64_t began_ns,
                     std::function<void(std::string_view)> write)
    : began_ns_(began_ns), write_(std::move(write)) {
  for (size_t node = 0; node < addresses.size(); ++node) nodes_[addresses[node]] = static_cast<int>(node);
}

Recording::Entry& Recording::add(const lab_event& event) {
  Entry& entry = entries_.emplace_back();
  entry.event = event;
  (void)nic_read(event.words, event.carried, &entry.message);
  return entry;
}

void Recording::take(const lab_event& event) {
  if (event.link == LAB_DOORBELL) {
    (void)add(event);
  } else if (event.is_again != 0) {
    take_again(event);
  } else if (event.link % 2 == LAB_TO_NODE) {
    take_on_last_link(event);
  } else {
    Entry& entry = add(event);
    see(node_of(event.link), entry.message.group, entry.message.source, entry.message);
    if ((event.hits & kGone) == 0) on_the_way_[std::to_array(event.words)].push_back(&entry);
  }
}

void Recording::take_on_last_link(const lab_event& event) {
  const int node = node_of(event.link);
  const auto lacks_it = [node](const Entry* entry) {
    const auto known = std::ranges::count(entry->ways, node, &Way::node);
    return known < ((entry->event.hits & bit_of(LAB_HIT_Duplicate)) != 0 ? 2 : 1);
  };
  std::vector<Entry*>& same = on_the_way_[std::to_array(event.words)];
  auto found = std::ranges::find_if(same, lacks_it);
  if (found == same.end()) {
    Entry& entry = add(event);
    entry.event.link = kNowhere;
    entry.event.hits = 0;
    found = same.insert(same.end(), &entry);
  }
  Way way;
  way.node = node;
  way.hits = event.hits;
  way.time_ns = event.time_ns;
  if (way.expected() != 0 && (way.hits & kHeld) == 0) way.arrives_ns[way.arrivals++] = event.time_ns;
  (*found)->ways.push_back(way);
  if ((*found)->message.target != NIC_ALL)
    see(node, (*found)->message.group, (*found)->message.target, (*found)->message);
}

void Recording::take_again(const lab_event& event) {
  const auto found = on_the_way_.find(std::to_array(event.words));
  if (found == on_the_way_.end()) return;
  for (Entry* entry : found->second) {
    for (Way& way : entry->ways) {
      if (way.node != node_of(event.link) || way.arrivals >= way.expected()) continue;
      way.arrives_ns[way.arrivals++] = event.time_ns;
      return;
    }
  }
}

void Recording::see(int node, uint64_t group, uint16_t member, const nic_message& message) {
  if (!is_of_schedule(message)) return;
  const auto [found, is_new] =
      memberships_.try_emplace({node, group}, Membership{member, message.epoch, message.epoch});
  Membership& membership = found->second;
  membership.first_epoch = std::min<uint64_t>(membership.first_epoch, message.epoch);
  membership.last_epoch = std::max<uint64_t>(membership.last_epoch, message.epoch);
}

// A doorbell bears a number by which the node's engine knows the group. So it is the one of which the node has sent or
// got such an operation, if there is one only that has no other number.
std::optional<uint64_t> Recording::group_of(int node, const nic_message& doorbell) {
  const std::pair<int, uint64_t> number = {node, doorbell.group};
  if (const auto known = slots_.find(number); known != slots_.end()) {
    Slot& slot = known->second;
    if (doorbell.epoch != 1 || slot.epoch <= 1) {
      slot.epoch = std::max<uint64_t>(slot.epoch, doorbell.epoch);
      return slot.group;
    }
    // Another group has the number now.
    memberships_[{node, slot.group}].is_over = true;
    slots_.erase(known);
  }
  std::optional<uint64_t> found;
  for (auto it = memberships_.lower_bound({node, 0}); it != memberships_.end() && it->first.first == node; ++it) {
    const uint64_t group = it->first.second;
    const Membership& one = it->second;
    const bool is_taken = std::ranges::any_of(
        slots_, [&](const auto& slot) { return slot.first.first == node && slot.second.group == group; });
    if (one.is_over || is_taken || doorbell.epoch < one.first_epoch || doorbell.epoch > one.last_epoch) continue;
    if (found) return std::nullopt;
    found = group;
  }
  if (found) slots_[number] = {*found, doorbell.epoch};
  return found;
}

void Recording::settle(uint64_t before_ns) {
  while (!entries_.empty() && entries_.front().event.time_ns < before_ns) {
    const Entry& entry = entries_.front();
    if (entry.event.link == LAB_DOORBELL) {
      write_doorbell(entry);
    } else {
      write_packet(entry);
      forget(entry);
    }
    entries_.pop_front();
  }
}

void Recording::forget(const Entry& entry) {
  const auto found = on_the_way_.find(std::to_array(entry.event.words));
  if (found == on_the_way_.end()) return;
  std::erase(found->second, &entry);
  if (found->second.empty()) on_the_way_.erase(found);
}

void Recording::write_packet(const Entry& entry) {
  ++packets_;
  const nic_message& message = entry.message;
  Line line("packet");
  line.number("ns", since_began(entry.event.time_ns));
  if (entry.event.link == kNowhere)
    line.nothing("from");
  else
    line.number("from", static_cast<uint64_t>(node_of(entry.event.link)));
  if (message.kind != 0 && message.kind < NIC_KINDS)
    line.text("kind", kKinds[message.kind]);
  else
    line.nothing("kind");
  line.group(message.group).number("epoch", message.epoch).number("program", message.program);
  line.number("source", message.source).number("target", message.target).number("send", message.send);
  line.number("bit", message.bit).call(message).number("carried", message.carried).effects(entry.event.hits);
  line.begin("to").open('[');
  for (const Way& way : entry.ways) {
    line.separate();
    line.open('{').number("node", static_cast<uint64_t>(way.node)).number("ns", since_began(way.time_ns));
    line.effects(way.hits).begin("arrives_ns").open('[');
    for (unsigned i = 0; i < way.arrivals; ++i) line.element(since_began(way.arrives_ns[i]));
    line.close(']').close('}');
  }
  line.close(']');
  write_(line.end());
}

void Recording::write_doorbell(const Entry& entry) {
  ++doorbells_;
  const nic_message& message = entry.message;
  // Of a stranger's in a node, a node that there is not.
  const auto found = nodes_.find(std::to_array(entry.event.source));
  const int node = found != nodes_.end() ? found->second : static_cast<int>(nodes_.size());
  Line line("doorbell");
  line.number("ns", since_began(entry.event.time_ns)).number("node", static_cast<uint64_t>(node));
  if (const std::optional<uint64_t> group = group_of(node, message))
    line.group(*group).number("member", memberships_[{node, *group}].member);
  else
    line.nothing("group").nothing("member");
  line.number("epoch", message.epoch).number("program", message.program).call(message);
  line.number("carried", message.carried);
  write_(line.end());
}

}  // namespace hocket::lab
