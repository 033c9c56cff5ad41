// SPDX-License-Identifier: BSD-3-Clause
#include "supervision/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace hocket::supervision {
namespace {

// A longer line is cut: memory has an end.
constexpr size_t kLongestLine = size_t{16} << 20;
// A pipe that poll() calls writable takes this much without blocking.
constexpr size_t kWriteBytes = 4096;

}  // namespace

void Output::add(platform::Descriptor source, int target, std::string prefix) {
  sources_.push_back({std::move(source), target, std::move(prefix), {}});
}

void Output::say(const std::string& line) { put(STDERR_FILENO, line + "\n"); }

void Output::watch(std::vector<pollfd>& watched) const {
  for (const Source& source : sources_) {
    if (!is_full() && source.descriptor.get() >= 0) watched.push_back({source.descriptor.get(), POLLIN, 0});
  }
  if (!queue_.empty()) watched.push_back({queue_.front().target, POLLOUT, 0});
}

void Output::pump() {
  for (Source& source : sources_) {
    if (!is_full()) read_from(source, false);
  }
  write();
}

void Output::finish() {
  for (Source& source : sources_) {
    read_from(source, true);
    if (!source.partial.empty()) take_lines(source, "\n");
    source.descriptor.reset();
  }
  write();
}

void Output::drop() {
  queue_.clear();
  queued_bytes_ = 0;
}

// Until there is no more for now, or no room unless `all`; the end of it closes the source.
void Output::read_from(Source& source, bool all) {
  char buffer[65536];
  while (source.descriptor.get() >= 0) {
    const ssize_t length = read(source.descriptor.get(), buffer, sizeof buffer);
    if (length > 0) {
      take_lines(source, {buffer, static_cast<size_t>(length)});
      if (is_full() && !all) return;
    } else if (length == 0) {
      if (!source.partial.empty()) take_lines(source, "\n");
      source.descriptor.reset();
    } else if (errno != EINTR) {
      return;
    }
  }
}

void Output::take_lines(Source& source, std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos && source.partial.size() + text.size() < kLongestLine) {
      source.partial += text;
      break;
    }
    const std::string_view line = text.substr(0, end);
    lines += source.prefix + source.partial;
    lines += line;
    lines += '\n';
    source.partial.clear();
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  put(source.target, std::move(lines));
}

void Output::put(int target, std::string text) {
  if (text.empty() || (target == STDOUT_FILENO ? is_lost_ : error_is_lost_)) return;
  queued_bytes_ += text.size();
  queue_.push_back({target, std::move(text)});
}

void Output::write() {
  while (!queue_.empty()) {
    Piece& piece = queue_.front();
    pollfd target{piece.target, POLLOUT, 0};
    if (poll(&target, 1, 0) <= 0) return;
    const size_t length = std::min(kWriteBytes, piece.text.size() - piece.written);
    const ssize_t written = ::write(piece.target, piece.text.data() + piece.written, length);
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return;
      (piece.target == STDOUT_FILENO ? is_lost_ : error_is_lost_) = true;
      const int lost = piece.target;
      std::erase_if(queue_, [lost](const Piece& other) { return other.target == lost; });
      queued_bytes_ = 0;
      for (const Piece& left : queue_) queued_bytes_ += left.text.size() - left.written;
      continue;
    }
    piece.written += static_cast<size_t>(written);
    queued_bytes_ -= static_cast<size_t>(written);
    if (piece.written == piece.text.size()) queue_.pop_front();
  }
}

}  // namespace hocket::supervision
