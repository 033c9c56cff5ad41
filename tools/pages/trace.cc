// SPDX-License-Identifier: BSD-3-Clause
#include "pages/trace.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>

#include "pages/text.h"

namespace hocket::pages {
namespace {

constexpr size_t kBufferBytes = 256 << 10;
// Numbers that no rank has. Threads of different nodes differ, too, for viewers that know threads by these alone. All
// fit into 31 bits, as numbers of threads do.
constexpr uint32_t kFirstEngine = uint32_t{1} << 30;
constexpr uint32_t kEnginesPerNode = 16;
constexpr uint64_t kPicosecondsPerMicrosecond = 1'000'000;

template <typename Number>
void append_number(std::string& json, Number number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  json.append(digits.data(), end.ptr);
}

// In microseconds, with as many digits behind the point as it has.
void append_time(std::string& json, simulation::Time time) {
  append_number(json, time / kPicosecondsPerMicrosecond);
  uint64_t rest = time % kPicosecondsPerMicrosecond;
  if (rest == 0) return;
  std::array<char, 7> digits = {'.', '0', '0', '0', '0', '0', '0'};
  for (size_t place = 6; place > 0; --place, rest /= 10) digits[place] = static_cast<char>('0' + rest % 10);
  size_t used = digits.size();
  while (digits[used - 1] == '0') --used;
  json.append(digits.data(), used);
}

void append_value(std::string& json, const Argument& argument) {
  if (const auto* text = std::get_if<std::string_view>(&argument.value)) {
    append_json_string(json, *text);
  } else if (const auto* number = std::get_if<double>(&argument.value)) {
    std::isfinite(*number) ? append_number(json, *number) : void(json += "null");
  } else if (const auto* positive = std::get_if<uint64_t>(&argument.value)) {
    append_number(json, *positive);
  } else {
    append_number(json, std::get<int64_t>(argument.value));
  }
}

}  // namespace

// Viewers take process and thread 0 for the idle ones of a kernel.
Track rank_track(uint32_t node, uint32_t rank) { return {node, rank + 1}; }

Track nic_track(uint32_t node, uint32_t engine) {
  return {node, kFirstEngine + node * kEnginesPerNode + engine % kEnginesPerNode};
}

TraceWriter::TraceWriter(std::FILE* file) : file_(file) { buffer_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["; }
TraceWriter::TraceWriter(std::string* text) : text_(text) { buffer_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["; }

TraceWriter::~TraceWriter() { (void)finish(); }

void TraceWriter::name_node(uint32_t node, std::string_view name) {
  metadata("process_name", {node, 0}, name, "process_sort_index", node);
}

void TraceWriter::name_track(Track track, std::string_view name) {
  metadata("thread_name", track, name, "thread_sort_index", track.thread);
}

void TraceWriter::metadata(std::string_view kind, Track track, std::string_view name, std::string_view order,
                           uint64_t place) {
  if (is_finished_) return;
  start("M", track);
  field("name", kind);
  buffer_ += ",\"args\":{\"name\":";
  append_json_string(buffer_, name);
  buffer_ += '}';
  end();
  start("M", track);
  field("name", order);
  buffer_ += ",\"args\":{\"sort_index\":";
  append_number(buffer_, place);
  buffer_ += '}';
  end();
}

void TraceWriter::add(const Activity& activity) {
  if (is_finished_) return;
  start("X", activity.track);
  field("name", activity.name);
  field("cat", activity.category);
  field("ts", activity.begin);
  field("dur", activity.duration);
  if (!activity.arguments.empty()) {
    buffer_ += ",\"args\":";
    char before = '{';
    for (const Argument& argument : activity.arguments) {
      buffer_ += before;
      before = ',';
      append_json_string(buffer_, argument.name);
      buffer_ += ':';
      append_value(buffer_, argument);
    }
    buffer_ += '}';
  }
  end();
}

void TraceWriter::add(const Message& message) {
  if (is_finished_) return;
  ++messages_;
  for (const bool is_sent : {true, false}) {
    start(is_sent ? "s" : "f", is_sent ? message.from : message.to);
    field("name", message.name);
    field("cat", message.category);
    field("ts", is_sent ? message.sent : message.received);
    buffer_ += ",\"id\":";
    append_number(buffer_, messages_);
    // To the activity around it, not to the next one.
    if (!is_sent) field("bp", std::string_view("e"));
    end();
  }
}

Status TraceWriter::finish() {
  if (!is_finished_) {
    buffer_ += "\n]}\n";
    flush();
    is_finished_ = true;
    if (file_ != nullptr && error_ == 0 && std::fflush(file_) != 0) error_ = errno;
  }
  return error_ == 0 ? Status::ok() : Status::system("can't write the timeline", error_);
}

void TraceWriter::start(std::string_view phase, Track track) {
  buffer_ += is_empty_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
  is_empty_ = false;
  buffer_ += phase;
  buffer_ += "\",\"pid\":";
  append_number(buffer_, uint64_t{track.process} + 1);
  buffer_ += ",\"tid\":";
  append_number(buffer_, track.thread);
}

void TraceWriter::field(std::string_view name, std::string_view text) {
  buffer_ += ",\"";
  buffer_ += name;
  buffer_ += "\":";
  append_json_string(buffer_, text);
}

void TraceWriter::field(std::string_view name, simulation::Time time) {
  buffer_ += ",\"";
  buffer_ += name;
  buffer_ += "\":";
  append_time(buffer_, time);
}

void TraceWriter::end() {
  buffer_ += '}';
  if (buffer_.size() >= kBufferBytes) flush();
}

void TraceWriter::flush() {
  if (text_ != nullptr)
    *text_ += buffer_;
  else if (error_ == 0 && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size())
    error_ = errno;
  buffer_.clear();
}

}  // namespace hocket::pages
