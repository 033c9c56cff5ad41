// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/trace_text.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "base/utf8.h"

namespace hocket::platform {
namespace {

constexpr uint64_t kNsPerUs = 1000;
constexpr const char* kPart = "part";

void append(std::string& text, const char* format, ...) __attribute__((format(printf, 2, 3)));
void append(std::string& text, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length > 0) text.append(line, std::min<size_t>(static_cast<size_t>(length), sizeof line - 1));
}

// Programs call communicators what they like.
std::string quoted(std::string_view word) {
  std::string text = "\"";
  while (!word.empty()) {
    const size_t length = length_of_character(word);
    const char letter = length == 0 ? '?' : word[0];
    if (letter == '"' || letter == '\\') text += '\\';
    if (length > 1)
      text += word.substr(0, length);
    else
      text += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    word.remove_prefix(std::max<size_t>(length, 1));
  }
  return text + "\"";
}

const char* category(TraceKind kind) {
  switch (kind) {
    case TraceKind::kCall:
      return "collective";
    case TraceKind::kPassed:
    case TraceKind::kMpiWait:
      return "MPI";
    case TraceKind::kStarted:
      return "started";
    case TraceKind::kOpen:
      return "not over";
    default:
      return kPart;
  }
}

std::string name_of_slice(const TraceEvent& event) {
  switch (event.kind) {
    case TraceKind::kPlan:
      return "plan";
    case TraceKind::kWaitForRank:
      return "wait for rank " + std::to_string(rank_of_track(event.other));
    case TraceKind::kWaitForData:
      return "wait for data";
    case TraceKind::kMove:
      return "move";
    case TraceKind::kReduce:
      return "reduce";
    case TraceKind::kStarted:
      return "rank " + std::to_string(rank_of_track(event.track)) + ": " + event.name;
    case TraceKind::kOpen:
      return "rank " + std::to_string(rank_of_track(event.track)) + ": " + event.name + ", not over";
    default:
      return event.name;
  }
}

const char* name_of_engine(TraceEngine engine) {
  switch (engine) {
    case TraceEngine::kSharedMemory:
      return "shared memory";
    case TraceEngine::kBetweenNodes:
      return "shared memory and the network";
    case TraceEngine::kEngine:
      return "NIC engine";
  }
  return "";
}

void append_communicator(std::string& text, const TraceEvent& event, const TraceOrigin& origin) {
  append(text, R"("communicator":"%u.%u")", static_cast<uint32_t>(event.communicator >> 32),
         static_cast<uint32_t>(event.communicator));
  if (event.communicator_name != 0 && event.communicator_name <= origin.communicator_names.size())
    text += ",\"communicator name\":" + quoted(origin.communicator_names[event.communicator_name - 1u]);
}

void append_arguments(std::string& text, const TraceEvent& event, const TraceOrigin& origin) {
  text += ",\"args\":{";
  switch (event.kind) {
    case TraceKind::kCall:
      append_communicator(text, event, origin);
      append(text, ",\"call\":%llu,\"algorithm\":%s,\"engine\":\"%s\",\"bytes\":%llu",
             static_cast<unsigned long long>(event.number), quoted(event.algorithm).c_str(),
             name_of_engine(event.engine), static_cast<unsigned long long>(event.bytes));
      if (event.root != TraceEvent::kNone) append(text, ",\"root\":%u", event.root);
      break;
    case TraceKind::kStarted:
      append_communicator(text, event, origin);
      append(text, ",\"algorithm\":%s,\"bytes\":%llu", quoted(event.algorithm).c_str(),
             static_cast<unsigned long long>(event.bytes));
      break;
    case TraceKind::kWaitForRank:
      append(text, "\"rank\":%u", rank_of_track(event.other));
      break;
    case TraceKind::kPassed:
      text += R"("carried out by":"the MPI")";
      break;
    case TraceKind::kMpiWait:
      if (event.other != TraceEvent::kNone) append(text, "\"peer\":%u", event.other);
      if (event.number != 0)
        append(text, "%s\"tag\":%lld", event.other != TraceEvent::kNone ? "," : "",
               static_cast<long long>(event.number - 1));
      break;
    default:
      break;
  }
  text += '}';
}

int64_t shifted(uint64_t ns, const TraceOrigin& origin) { return static_cast<int64_t>(ns) + origin.offset_ns; }

void append_time(std::string& text, const char* key, int64_t ns) {
  const auto size = static_cast<uint64_t>(ns < 0 ? -ns : ns);
  append(text, ",\"%s\":%s%llu.%03u", key, ns < 0 ? "-" : "", static_cast<unsigned long long>(size / kNsPerUs),
         static_cast<unsigned>(size % kNsPerUs));
}

// What is part of a call ends a little before what comes next, which viewers that round times would else take for a
// part of it.
int64_t shown_ns(const TraceEvent& event) {
  constexpr int64_t kLessNs = 2;
  const auto ns = static_cast<int64_t>(event.ended_ns - event.began_ns);
  const bool is_part = std::string_view(category(event.kind)) == kPart;
  return is_part && ns > kLessNs ? ns - kLessNs : ns;
}

void append_place(std::string& text, uint32_t track, const TraceOrigin& origin) {
  append(text, ",\"pid\":%u,\"tid\":%u", origin.node, thread_of_track(track));
}

// Different ones for all arrows of a job; Perfetto reads a text as a number in base 16.
uint64_t arrow_of(const TraceEvent& event, uint64_t number, const TraceOrigin& origin) {
  uint64_t hash = (uint64_t{origin.node} << 32 | event.track) * 0x9e3779b97f4a7c15ull;
  hash = (hash ^ hash >> 29 ^ number) * 0xc2b2ae3d27d4eb4full;
  return hash ^ hash >> 32;
}

// From the late rank's call, which begins at that time, to this one's, at the end of its wait.
void append_arrow(std::string& text, const TraceEvent& event, uint64_t number, const TraceOrigin& origin) {
  const uint64_t arrow = arrow_of(event, number, origin);
  for (const bool begins : {true, false}) {
    append(text, R"({"name":"late","cat":"late","id":"0x%llx","ph":"%s")", static_cast<unsigned long long>(arrow),
           begins ? "s" : R"(f","bp":"e)");
    append_time(text, "ts", shifted(event.ended_ns, origin));
    append_place(text, begins ? event.other : event.track, origin);
    text += "},\n";
  }
}

// Beside the rank's track, since other calls begin and end meanwhile.
void append_beside(std::string& text, const TraceEvent& event, uint64_t number, const TraceOrigin& origin) {
  const uint64_t id = arrow_of(event, number, origin);
  for (const bool begins : {true, false}) {
    text += "{\"name\":" + quoted(name_of_slice(event));
    append(text, R"(,"cat":"%s","id":"0x%llx","ph":"%s")", category(event.kind), static_cast<unsigned long long>(id),
           begins ? "b" : "e");
    append_time(text, "ts", shifted(begins ? event.began_ns : event.ended_ns, origin));
    append_place(text, event.track, origin);
    append_arguments(text, event, origin);
    text += "},\n";
  }
}

}  // namespace

void append_event(std::string& text, const TraceEvent& event, uint64_t number, const TraceOrigin& origin) {
  if (event.kind == TraceKind::kStarted || event.kind == TraceKind::kOpen)
    return append_beside(text, event, number, origin);
  text += "{\"name\":" + quoted(name_of_slice(event));
  append(text, R"(,"cat":"%s","ph":"X")", category(event.kind));
  append_time(text, "ts", shifted(event.began_ns, origin));
  append_time(text, "dur", shown_ns(event));
  append_place(text, event.track, origin);
  append_arguments(text, event, origin);
  text += "},\n";
  if (event.kind == TraceKind::kWaitForRank && event.bytes != 0) append_arrow(text, event, number, origin);
}

void append_track_name(std::string& text, uint32_t track, const TraceOrigin& origin) {
  const uint32_t thread = track / kTracksApart;
  std::string name = "rank " + std::to_string(rank_of_track(track));
  if (thread != 0) name += ", thread " + std::to_string(thread + 1);
  append(text,
         R"({"name":"thread_name","ph":"M","pid":%u,"tid":%u,"args":{"name":"%s"}},)"
         "\n",
         origin.node, thread_of_track(track), name.c_str());
  append(text,
         R"({"name":"thread_sort_index","ph":"M","pid":%u,"tid":%u,"args":{"sort_index":%u}},)"
         "\n",
         origin.node, thread_of_track(track), rank_of_track(track));
}

void append_node_name(std::string& text, std::string_view host, const TraceOrigin& origin) {
  append(text, R"({"name":"process_name","ph":"M","pid":%u,"args":{"name":)", origin.node);
  text += quoted(host) + "}},\n";
}

void append_dropped(std::string& text, uint64_t dropped, uint64_t at_ns, uint32_t track, const TraceOrigin& origin) {
  append(text, R"({"name":"%llu earlier events are not here","cat":"part","ph":"i","s":"t")",
         static_cast<unsigned long long>(dropped));
  append_time(text, "ts", shifted(at_ns, origin));
  append_place(text, track, origin);
  append(text,
         R"(,"args":{"dropped":%llu}},)"
         "\n",
         static_cast<unsigned long long>(dropped));
}

}  // namespace hocket::platform
