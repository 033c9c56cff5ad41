// SPDX-License-Identifier: BSD-3-Clause
#include "base/kept_lists.h"

#include <deque>
#include <mutex>
#include <utility>

#include "base/assertion.h"

namespace hocket {
namespace {

struct Lists {
  std::mutex mutex;
  std::deque<std::vector<uint32_t>> lists;
};

// Never destroyed: other threads may still look while the process ends.
Lists& all_lists() {
  static auto& lists = *new Lists;
  return lists;
}

}  // namespace

uint32_t number_of_list(std::vector<uint32_t> list) {
  Lists& all = all_lists();
  const std::scoped_lock lock(all.mutex);
  for (size_t i = 0; i < all.lists.size(); ++i)
    if (all.lists[i] == list) return static_cast<uint32_t>(i + 1);
  all.lists.push_back(std::move(list));
  return static_cast<uint32_t>(all.lists.size());
}

const std::vector<uint32_t>& kept_list(uint32_t number) {
  Lists& all = all_lists();
  const std::scoped_lock lock(all.mutex);
  HOCKET_ASSERT(number >= 1 && number <= all.lists.size(), "a list's number has been given");
  return all.lists[number - 1];
}

}  // namespace hocket
