// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/places.h"

#include <algorithm>
#include <vector>

namespace hocket::communicator {
namespace {

std::unique_ptr<const schedule::Nodes> groups_by(std::span<const RankPlace> ranks, int32_t RankPlace::* member) {
  std::vector<uint64_t> labels;
  for (const RankPlace& one : ranks) {
    if (one.*member < 0) return nullptr;
    labels.push_back(static_cast<uint64_t>(one.*member));
  }
  auto groups = std::make_unique<const schedule::Nodes>(labels);
  return groups->count() > 1 ? std::move(groups) : nullptr;
}

}  // namespace

Places places_of(std::span<const RankPlace> ranks) {
  Places places;
  places.domains = groups_by(ranks, &RankPlace::domain);
  places.caches = groups_by(ranks, &RankPlace::cache);
  places.sockets = groups_by(ranks, &RankPlace::socket);
  const bool is_named =
      std::any_of(ranks.begin(), ranks.end(), [](const RankPlace& one) { return one.names_domain != 0; });
  if (places.domains == nullptr && places.caches != nullptr && !is_named)
    places.domains = std::make_unique<const schedule::Nodes>(*places.caches);
  return places;
}

}  // namespace hocket::communicator
