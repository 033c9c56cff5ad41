// SPDX-License-Identifier: BSD-3-Clause
#include "platform/bootstrap/local_contexts.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

namespace hocket::platform {
namespace {

struct Entry {
  std::weak_ptr<SharedRegion> region;
  std::shared_ptr<const std::atomic<bool>> alive;
  pid_t process;
};

struct Table {
  std::mutex mutex;
  std::map<Identity, Entry> entries;
};

// Never destroyed: contexts may go in other libraries' exit handlers.
Table& table() {
  static auto* const only = new Table;
  return *only;
}

}  // namespace

void add_local_context(const Identity& identity, const std::shared_ptr<SharedRegion>& region,
                       std::shared_ptr<const std::atomic<bool>> alive) {
  const std::lock_guard lock(table().mutex);
  table().entries[identity] = Entry{region, std::move(alive), getpid()};
}

void remove_local_context(const Identity& identity) {
  const std::lock_guard lock(table().mutex);
  table().entries.erase(identity);
}

LocalContext find_local_context(const Identity& identity) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().entries.find(identity);
  if (found == table().entries.end() || found->second.process != getpid()) return {};
  return {found->second.region.lock(), found->second.alive};
}

}  // namespace hocket::platform
