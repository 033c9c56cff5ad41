// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/trace_writer.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace hocket::platform {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

}  // namespace

bool TraceWriter::are_untold(std::span<const OpenCall> open) const {
  for (size_t i = 0; i < open.size(); ++i) {
    const uint64_t began_ns = open[i].began_ns.load(std::memory_order_relaxed);
    if (began_ns != 0 && (i >= told_open_ns_.size() || began_ns != told_open_ns_[i])) return true;
  }
  return false;
}

void TraceWriter::append_open_calls(std::string& text, std::span<const OpenCall> open, const TraceOrigin& origin) {
  told_open_ns_.resize(std::max(told_open_ns_.size(), open.size()));
  const uint64_t at_ns = now_ns();
  for (size_t i = 0; i < open.size(); ++i) {
    TraceEvent event;
    event.kind = TraceKind::kOpen;
    // Acquire: pairs with the release in Tracer::enter().
    event.began_ns = open[i].began_ns.load(std::memory_order_acquire);
    event.name = open[i].name.load(std::memory_order_relaxed);
    event.track = open[i].track.load(std::memory_order_relaxed);
    event.ended_ns = at_ns;
    if (event.began_ns == 0 || event.began_ns > at_ns || event.name == nullptr) continue;
    told_open_ns_[i] = event.began_ns;
    append_event(text, event, ~uint64_t{0} - event.began_ns, origin);
  }
}

void TraceWriter::append_new_tracks(std::string& text, const TraceKnown& known, const TraceOrigin& origin) {
  if (named_tracks_ == 0) append_node_name(text, place_.host, origin);
  for (; named_tracks_ < known.tracks.size(); ++named_tracks_)
    append_track_name(text, known.tracks[named_tracks_], origin);
}

Status TraceWriter::write_events(TraceFile& file, const TraceKnown& known, uint64_t first, uint64_t last,
                                 std::span<const OpenCall> open) {
  const TraceOrigin origin{place_.node, known.job.offset_ns - static_cast<int64_t>(file.base_ns()), known.names};
  std::string text;
  append_new_tracks(text, known, origin);
  uint64_t dropped = first - written_;
  for (uint64_t number = first; number < last; ++number) {
    TraceEvent event;
    if (!ring_.read(number, event)) continue;
    if (dropped != 0) append_dropped(text, std::exchange(dropped, 0), event.began_ns, event.track, origin);
    append_event(text, event, number, origin);
    if (text.size() < kChunkBytes) continue;
    HOCKET_TRY(file.add(text));
    text.clear();
  }
  append_open_calls(text, open, origin);
  HOCKET_TRY(file.add(text));
  return file.close();
}

void TraceWriter::write(const TraceKnown& known, uint64_t last, std::span<const OpenCall> open, bool is_end) {
  const uint64_t oldest = std::max(ring_.first(), last > setting_.events ? last - setting_.events : 0);
  const uint64_t first = std::min(std::max(written_, oldest), last);
  // A job without events, of one rank, say, has a file, too: that of an earlier one would be taken for its.
  const bool is_first_and_last = is_end && !std::exchange(has_written_, true);
  if (first == last && !are_untold(open) && !is_first_and_last) return;
  has_written_ = true;
  const uint64_t dropped = first - written_;
  const size_t named_before = named_tracks_;
  Result<TraceFile> file =
      TraceFile::open(place_.file, known.job.job, place_.base_ns + static_cast<uint64_t>(known.job.offset_ns));
  const Status status = file.is_ok() ? write_events(file.value(), known, first, last, open) : file.take_status();
  written_ = last;
  if (!status.is_ok()) {
    named_tracks_ = named_before;
    if (!std::exchange(has_failed_, true))
      HOCKET_LOG_WARN("%s; the job goes on, and %llu events of this process are lost", status.message(),
                      static_cast<unsigned long long>(last - first));
    return;
  }
  if (dropped != 0 && !setting_.at_events && !std::exchange(has_dropped_, true))
    HOCKET_LOG_WARN("HOCKET_TRACE: the first %llu events of this process are not in %s: memory holds the last %llu",
                    static_cast<unsigned long long>(dropped), place_.file.c_str(),
                    static_cast<unsigned long long>(setting_.events));
}

}  // namespace hocket::platform
