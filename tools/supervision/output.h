// SPDX-License-Identifier: BSD-3-Clause
// What ranks write, passed on line by line, each line whole and with its rank in front.
//
// Thread safety: one thread at a time. Nothing blocks but a write that poll() has called possible.
#pragma once

#include <poll.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "platform/descriptor.h"

namespace hocket::supervision {

class Output {
 public:
  // Lines read from `source`, which must not block, go to `target` with `prefix` in front.
  void add(platform::Descriptor source, int target, std::string prefix);
  // A line of the launcher's own, for stderr, without its newline.
  void say(const std::string& line);

  // Adds all descriptors of which news should make the caller call pump().
  void watch(std::vector<pollfd>& watched) const;
  // Reads and writes what can be read and written now.
  void pump();
  // No rank is left: what they have written last, lines without an end too.
  void finish();

  bool is_empty() const { return queue_.empty(); }
  // No process reads stdout any more.
  bool is_lost() const { return is_lost_; }
  // What will not be read in time.
  void drop();

 private:
  struct Source {
    platform::Descriptor descriptor;
    int target;
    std::string prefix;
    std::string partial;  // the beginning of a line
  };
  struct Piece {
    int target;
    std::string text;
    size_t written = 0;
  };

  bool is_full() const { return queued_bytes_ > kMostQueuedBytes; }
  void read_from(Source& source, bool all);
  void take_lines(Source& source, std::string_view text);
  void put(int target, std::string text);
  void write();

  // Beyond, ranks wait for the reader of our output.
  static constexpr size_t kMostQueuedBytes = size_t{4} << 20;
  std::vector<Source> sources_;
  std::deque<Piece> queue_;  // one for both targets: they may be the same file
  size_t queued_bytes_ = 0;
  bool is_lost_ = false;
  bool error_is_lost_ = false;
};

}  // namespace hocket::supervision
