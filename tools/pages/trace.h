// SPDX-License-Identifier: BSD-3-Clause
// A timeline as JSON in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open: processes are nodes,
// threads are their ranks and NIC engines, and arrows are messages. Source of the format: "Trace Event Format", the
// document of the Catapult project.
//
// Events may come in any order, and none is kept: what is written grows by about 100 bytes an event. Whatever names
// hold, and wherever the writer stops, the JSON is valid. The same events give the same bytes.
//
// Times are written in microseconds with all their picoseconds; Perfetto shows nanoseconds.
//
// Thread safety: a writer belongs to one thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"
#include "simulation/core/time.h"

namespace hocket::pages {

// Where something happens.
struct Track {
  uint32_t process = 0;
  uint32_t thread = 0;
};

Track rank_track(uint32_t node, uint32_t rank);
Track nic_track(uint32_t node, uint32_t engine = 0);

struct Argument {
  std::string_view name;
  std::variant<int64_t, uint64_t, double, std::string_view> value;
};

struct Activity {
  Track track;
  std::string_view name;
  std::string_view category;  // by which a viewer filters
  simulation::Time begin = 0;
  simulation::Time duration = 0;
  std::span<const Argument> arguments = {};
};

// An arrow from the activity that runs at `from` when it is sent to the one that runs at `to` when it is received: at
// its beginning or later, and before its end.
struct Message {
  std::string_view name;
  std::string_view category;
  Track from;
  simulation::Time sent = 0;
  Track to;
  simulation::Time received = 0;
};

class TraceWriter {
 public:
  // The caller keeps the file open, or the string alive, until the writer is gone.
  explicit TraceWriter(std::FILE* file);
  explicit TraceWriter(std::string* text);
  ~TraceWriter();  // finishes
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // How a viewer names and orders them: nodes by their numbers, of a node its ranks first.
  void name_node(uint32_t node, std::string_view name);
  void name_track(Track track, std::string_view name);

  void add(const Activity& activity);
  void add(const Message& message);

  // Ends the JSON; what is added later is left out. An error says why the file is not whole.
  Status finish();

 private:
  void start(std::string_view phase, Track track);
  void metadata(std::string_view kind, Track track, std::string_view name, std::string_view order, uint64_t place);
  void field(std::string_view name, std::string_view text);
  void field(std::string_view name, simulation::Time time);
  void end();
  void flush();

  std::FILE* file_ = nullptr;
  std::string* text_ = nullptr;
  std::string buffer_;
  uint64_t messages_ = 0;
  int error_ = 0;
  bool is_empty_ = true;
  bool is_finished_ = false;
};

}  // namespace hocket::pages
