// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/common_files.h"

#include <algorithm>

#include "base/log.h"
#include "platform/memory/shared_region.h"

namespace hocket::platform {
namespace {

bool has(const std::vector<FileIdentity>& files, const FileIdentity& file) {
  return std::find(files.begin(), files.end(), file) != files.end();
}

}  // namespace

// Release: what has changed comes before. Partner: epoch(). The mutex is held, as in all that follow but those that
// take it.
void CommonFiles::changed() { epoch_.fetch_add(1, std::memory_order_release); }

void CommonFiles::come(uint64_t window, const void* memory, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  if (bytes == 0 || begin >= kAddresses || bytes > kAddresses - begin) return;
  const std::lock_guard lock(mutex_);
  const auto place = std::upper_bound(parts_.begin(), parts_.end(), begin,
                                      [](uintptr_t address, const Part& part) { return address < part.begin; });
  Part& part = *parts_.insert(place, {.window = window, .begin = begin, .end = begin + bytes});
  for (uint32_t line = 0; line < lines_; ++line) tie(part, line);
  missing_.clear();
  are_any_.store(true, std::memory_order_relaxed);
  changed();
}

void CommonFiles::set_open(uint64_t window, bool is_open) {
  const std::lock_guard lock(mutex_);
  for (Part& part : parts_) {
    if (part.window == window) part.is_open = is_open;
  }
  changed();
}

// Lines of files that were found for peers, while this rank's part of the window is empty, go with any window: they are
// found again.
void CommonFiles::go(uint64_t window) {
  const std::lock_guard lock(mutex_);
  std::erase_if(parts_, [&](const Part& part) { return part.window == window; });
  for (uint32_t line = 0; line < lines_; ++line) {
    const bool is_kept = std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.line == line; });
    if (mine_[line].file.inode == 0 || is_kept) continue;
    mine_[line] = {};
    board_->wipe(line);
  }
  missing_.clear();
  are_any_.store(!parts_.empty(), std::memory_order_relaxed);
  changed();
}

void CommonFiles::tie(Part& part, uint32_t line) const {
  if (part.line != kNoLine || !mine_[line].contains(part.begin, 1)) return;
  part.line = line;
  part.was_looked_for = true;
}

CommonFiles::Part* CommonFiles::part_of(uintptr_t address) {
  const auto next = std::upper_bound(parts_.begin(), parts_.end(), address,
                                     [](uintptr_t at, const Part& part) { return at < part.begin; });
  return next != parts_.begin() && address < (next - 1)->end ? &*(next - 1) : nullptr;
}

uint32_t CommonFiles::announce(const FileMapping& mapping) {
  if (mapping.end > kAddresses) return kNoLine;
  const auto known = std::find(std::begin(mine_), mine_ + lines_, mapping);
  if (known != mine_ + lines_) return static_cast<uint32_t>(known - std::begin(mine_));
  if (board_ == nullptr && !has_board_failed_) {
    board_ = static_cast<CommonBoard*>(region_.allocate(sizeof(CommonBoard)));
    has_board_failed_ = board_ == nullptr;
  }
  const std::optional<uint32_t> line = board_ == nullptr ? std::nullopt : board_->write(mapping);
  if (!line) return kNoLine;
  mine_[*line] = mapping;
  lines_ = std::max(lines_, *line + 1);
  for (Part& part : parts_) tie(part, *line);
  HOCKET_LOG_DEBUG("memory of windows: %zu bytes of file %llu lie at 0x%zx", mapping.end - mapping.begin,
                   static_cast<unsigned long long>(mapping.file.inode), mapping.begin);
  return *line;
}

void CommonFiles::look_for_parts() {
  const std::vector<FileMapping> mappings = shared_file_mappings();
  for (Part& part : parts_) {
    if (part.was_looked_for) continue;
    part.was_looked_for = true;
    const auto found = std::find_if(mappings.begin(), mappings.end(),
                                    [&](const FileMapping& mapping) { return mapping.contains(part.begin, 1); });
    if (found != mappings.end())
      announce(*found);
    else
      HOCKET_LOG_DEBUG("memory of a window lies in no file that is shared: peers get copies of it");
  }
  changed();
}

bool CommonFiles::has_on_board(const FileIdentity& file) const {
  return std::any_of(mine_, mine_ + lines_, [&](const FileMapping& one) { return one.file == file; });
}

bool CommonFiles::is_given(uint32_t line) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.is_open && part.line == line; });
}

std::optional<FileMapping> CommonFiles::find(const void* memory, uint64_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const std::lock_guard lock(mutex_);
  Part* const part = part_of(address);
  if (part != nullptr && part->is_open && !part->was_looked_for) {
    part->copied += bytes;
    if (part->copied < kCopiedBeforeLook) {
      count(false);
      return std::nullopt;
    }
    look_for_parts();
  }
  for (uint32_t line = 0; line < lines_; ++line) {
    if (mine_[line].contains(address, bytes) && is_given(line)) return mine_[line];
  }
  return std::nullopt;
}

std::optional<FileMapping> CommonFiles::find(const FileIdentity& file, uint64_t offset, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (uint32_t line = 0; line < lines_; ++line) {
    const FileMapping& mapping = mine_[line];
    if (mapping.file == file && mapping.at(offset, bytes) != 0) return mapping;
  }
  for (const FileMapping& mapping : shared_file_mappings()) {
    if (mapping.file != file || mapping.at(offset, bytes) == 0) continue;
    announce(mapping);
    return mapping;
  }
  return std::nullopt;
}

void CommonFiles::look_for(const std::vector<FileIdentity>& files) {
  const std::lock_guard lock(mutex_);
  std::vector<FileIdentity> wanted;
  for (const FileIdentity& file : files) {
    if (!has_on_board(file) && !has(missing_, file) && !has(wanted, file)) wanted.push_back(file);
  }
  if (wanted.empty()) return;
  for (const FileMapping& mapping : shared_file_mappings()) {
    if (has(wanted, mapping.file)) announce(mapping);
  }
  for (const FileIdentity& file : wanted) {
    if (!has_on_board(file)) missing_.push_back(file);
  }
  changed();
}

uint64_t CommonFiles::board_place() const {
  const std::lock_guard lock(mutex_);
  return board_ == nullptr ? 0 : 1 + region_.offset_of(board_);
}

}  // namespace hocket::platform
