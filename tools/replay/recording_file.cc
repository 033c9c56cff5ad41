// SPDX-License-Identifier: BSD-3-Clause
#include "replay/recording_file.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace hocket::replay {
namespace {

using nlohmann::json;
using simulation::RecordedArrival;
using simulation::RecordedDoorbell;
using simulation::RecordedPacket;

constexpr const char* kFormat = "hocket-recording 1";
constexpr uint64_t kAnyNumber = ~uint64_t{0};
// In words, as enum nic_kind has them.
constexpr const char* kKinds[] = {"",      "message", "nack",  "alive", "probe", "ack",
                                  "abort", "veto",    "later", "owed",  "gone"};
static_assert(std::size(kKinds) == NIC_KINDS);

// The values of one line. What is wrong first is kept, and makes all further ones 0.
class Line {
 public:
  explicit Line(const json& values) : values_(values) {}

  const std::string& wrong() const { return wrong_; }
  void refuse(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  const json* find(const json& values, const char* name) const {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &*found;
  }
  uint64_t number(const char* name, uint64_t most) { return number(values_, name, most); }
  uint64_t number(const json& values, const char* name, uint64_t most) {
    const json* found = values.is_object() ? find(values, name) : nullptr;
    if (found == nullptr || !found->is_number_unsigned() || found->get<uint64_t>() > most) {
      refuse("`" + std::string(name) + "` must be a whole number" +
             (most == kAnyNumber ? "" : " up to " + std::to_string(most)));
      return 0;
    }
    return found->get<uint64_t>();
  }
  bool flag(const char* name) {
    const json* found = find(values_, name);
    if (found == nullptr || !found->is_boolean()) refuse("`" + std::string(name) + "` must be true or false");
    return found != nullptr && found->is_boolean() && found->get<bool>();
  }
  // nullptr: it is null. `is_needed`: otherwise it may be missing, too.
  const std::string* text(const char* name, bool is_needed = true) {
    const json* found = find(values_, name);
    if (found != nullptr && found->is_string()) return found->get_ptr<const std::string*>();
    if (found == nullptr ? is_needed : !found->is_null()) refuse("`" + std::string(name) + "` must be a text");
    return nullptr;
  }
  const json* array(const json& values, const char* name) {
    const json* found = values.is_object() ? find(values, name) : nullptr;
    if (found != nullptr && found->is_array()) return found;
    refuse("`" + std::string(name) + "` must be a list");
    return nullptr;
  }
  bool is_null(const char* name) const {
    const json* found = find(values_, name);
    return found != nullptr && found->is_null();
  }

 private:
  const json& values_;
  std::string wrong_;
};

uint64_t group_number(Line& line, const std::string& digits) {
  uint64_t number = 0;
  const bool is_one = digits.size() == 16 && std::ranges::all_of(digits, [&](char digit) {
                        const bool is_digit = digit >= '0' && digit <= '9';
                        if (!is_digit && (digit < 'a' || digit > 'f')) return false;
                        number = number << 4 | static_cast<uint64_t>(is_digit ? digit - '0' : digit - 'a' + 10);
                        return true;
                      });
  if (!is_one) line.refuse("`group` must have 16 digits of 0 to 9 and a to f");
  return number;
}

// What a packet and a doorbell have in common.
nic_message call_of(Line& line) {
  nic_message message = {};
  message.epoch = line.number("epoch", kAnyNumber);
  message.program = static_cast<__u8>(line.number("program", 0xff));
  message.root = static_cast<__u16>(line.number("root", 0xffff));
  message.words = static_cast<__u8>(line.number("words", 0xff));
  message.operation = static_cast<__u8>(line.number("operation", 15));
  message.type = static_cast<__u8>(line.number("type", 15));
  message.carried = static_cast<__u8>(line.number("carried", 0xff));
  return message;
}

// A packet's way to a node, before it is known which member lives there.
struct Way {
  size_t packet;  // of its group's
  uint64_t node;
  uint64_t ns;
};

class Reader {
 public:
  // "", or what is wrong.
  std::string take(const json& values);
  bool has_header() const { return has_header_; }
  RecordingFile end();

 private:
  void take_header(Line& line);
  void take_packet(Line& line, const json& values);
  void take_doorbell(Line& line);
  void take_end(Line& line);
  void take_ways(Line& line, const json& values, RecordedGroup* group, std::vector<Way>& ways);

  RecordingFile file_;
  std::map<std::string, std::map<uint64_t, uint16_t>> members_;  // of a group: by node
  std::map<std::string, std::vector<Way>> ways_;
  bool has_header_ = false;
  bool has_end_ = false;
};

void Reader::take_header(Line& line) {
  if (has_header_) line.refuse("there is a header already");
  const std::string* format = line.text("format");
  if (format == nullptr || *format != kFormat)
    line.refuse("`format` must be \"" + std::string(kFormat) + "\": another build of hocket has written it");
  file_.has_doorbells = line.flag("has_doorbells");
  const std::pair<const char*, std::string&> texts[] = {
      {"collective", file_.collective}, {"schedule", file_.schedule}, {"engines", file_.engines}};
  for (const auto& [name, value] : texts)
    if (const std::string* text = line.text(name, false)) value = *text;
  has_header_ = true;
}

// A packet that a bit was changed of is none to whom it reaches.
bool is_spoilt(const json& effects) {
  return std::ranges::any_of(effects, [](const json& one) { return one.is_string() && one == "corrupt"; });
}

void Reader::take_ways(Line& line, const json& values, RecordedGroup* group, std::vector<Way>& ways) {
  const json* effects = line.array(values, "effects");
  const json* to = line.array(values, "to");
  if (effects == nullptr || to == nullptr) return;
  for (const json& way : *to) {
    const uint64_t node = line.number(way, "node", 0xffff);
    const json* of_way = line.array(way, "effects");
    const json* arrives = line.array(way, "arrives_ns");
    if (of_way == nullptr || arrives == nullptr) return;
    for (const json& one : *arrives)
      if (!one.is_number_unsigned()) return line.refuse("`arrives_ns` must have whole numbers");
    if (arrives->empty() || is_spoilt(*effects) || is_spoilt(*of_way)) continue;
    ways.push_back({0, node, arrives->front().get<uint64_t>()});
    if (group != nullptr && arrives->size() > 1) ++group->twice;
  }
}

void Reader::take_packet(Line& line, const json& values) {
  RecordedPacket packet;
  packet.ns = line.number("ns", kAnyNumber);
  const bool is_sent = !line.is_null("from");
  const uint64_t from = is_sent ? line.number("from", 0xffff) : 0;
  const std::string* kind = line.text("kind");
  const std::string* group = line.text("group");
  packet.message = call_of(line);
  packet.message.source = static_cast<__u16>(line.number("source", 0xffff));
  packet.message.target = static_cast<__u16>(line.number("target", 0xffff));
  packet.message.send = static_cast<__u8>(line.number("send", 0xff));
  packet.message.bit = static_cast<__u8>(line.number("bit", 0xff));
  if (kind != nullptr) {
    const auto found = std::ranges::find(kKinds, *kind);
    packet.message.kind = static_cast<__u8>(found - std::begin(kKinds));
    if (kind->empty() || found == std::end(kKinds)) line.refuse("`kind` is none of a packet's: " + *kind);
  }
  if (group != nullptr) packet.message.group = group_number(line, *group);
  std::vector<Way> ways;
  if (!line.wrong().empty() || kind == nullptr || group == nullptr || !is_sent) {
    take_ways(line, values, nullptr, ways);
    ++file_.strangers;
    return;
  }
  RecordedGroup& own = file_.groups[*group];
  take_ways(line, values, &own, ways);
  members_[*group].try_emplace(from, packet.message.source);
  if (packet.message.target != NIC_ALL) {
    own.members = std::max<uint32_t>(own.members, packet.message.target + 1u);
    for (const Way& way : ways) {
      if (!packet.arrivals.empty()) break;
      packet.arrivals.push_back({packet.message.target, way.ns});
    }
    ways.clear();
  }
  own.members = std::max<uint32_t>(own.members, packet.message.source + 1u);
  for (Way& way : ways) way.packet = own.recording.packets.size();
  std::vector<Way>& all = ways_[*group];
  all.insert(all.end(), ways.begin(), ways.end());
  own.recording.packets.push_back(std::move(packet));
}

void Reader::take_doorbell(Line& line) {
  RecordedDoorbell doorbell;
  doorbell.ns = line.number("ns", kAnyNumber);
  const uint64_t node = line.number("node", 0xffff);
  const std::string* group = line.text("group");
  doorbell.call = call_of(line);
  if (group == nullptr) {
    ++file_.unowned;
    return;
  }
  (void)group_number(line, *group);
  doorbell.member = static_cast<uint16_t>(line.number("member", 0xffff));
  if (!line.wrong().empty()) return;
  RecordedGroup& own = file_.groups[*group];
  own.members = std::max<uint32_t>(own.members, doorbell.member + 1u);
  members_[*group].try_emplace(node, doorbell.member);
  own.recording.doorbells.push_back(doorbell);
}

void Reader::take_end(Line& line) {
  file_.missed = line.number("missed", kAnyNumber);
  file_.is_complete = line.flag("is_complete");
  has_end_ = true;
}

std::string Reader::take(const json& values) {
  if (!values.is_object()) return "it is no JSON object";
  Line line(values);
  const std::string* record = line.text("record");
  if (record == nullptr) return line.wrong().empty() ? "`record` must be a text" : line.wrong();
  if (*record == "header")
    take_header(line);
  else if (!has_header_)
    line.refuse("the header must come first");
  else if (has_end_)
    line.refuse("there is something behind the end");
  else if (*record == "packet")
    take_packet(line, values);
  else if (*record == "doorbell")
    take_doorbell(line);
  else if (*record == "end")
    take_end(line);
  else
    line.refuse("`record` is none of header, doorbell, packet and end: " + *record);
  return line.wrong();
}

RecordingFile Reader::end() {
  for (auto& [group, ways] : ways_) {
    const std::map<uint64_t, uint16_t>& members = members_[group];
    for (const Way& way : ways) {
      const auto found = members.find(way.node);
      if (found == members.end()) continue;
      std::vector<RecordedArrival>& arrivals = file_.groups[group].recording.packets[way.packet].arrivals;
      if (std::ranges::find(arrivals, found->second, &RecordedArrival::member) == arrivals.end())
        arrivals.push_back({found->second, way.ns});
    }
  }
  return std::move(file_);
}

std::string place_of(uint64_t line) { return ":" + std::to_string(line) + " is no line of a recording: "; }

}  // namespace

Result<RecordingFile> parse_recording(std::string_view text, const std::string& name) {
  Reader reader;
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    // A recorder that was ended halfway leaves half a line.
    const bool is_cut = end == text.size();
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const json values = json::parse(line, nullptr, false);
    if (is_cut && values.is_discarded() && reader.has_header()) break;
    std::string wrong = values.is_discarded() ? "it is no JSON" : reader.take(values);
    if (!wrong.empty()) return Status(Code::kInvalidArgument, wrong.insert(0, name + place_of(number)));
  }
  if (!reader.has_header())
    return Status(Code::kInvalidArgument,
                  name + " is no recording: it has no header, as `hocket lab record` writes it");
  return reader.end();
}

Result<RecordingFile> read_recording(const std::string& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) return Status::system("can't read " + path, errno);
  return parse_recording(text.str(), path);
}

}  // namespace hocket::replay
