// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhoods: made by all ranks of a communicator together, which tell each other what they were passed.
#include <hocket/neighbourhoods.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "c_api/arguments.h"
#include "c_api/internal/neighbourhood.h"
#include "c_api/text_answer.h"
#include "platform/bootstrap/connector.h"
#include "schedule/collective_names.h"

using hocket::Code;
using hocket::Result;
using hocket::Status;
using hocket::c_api::comm_of;
using hocket::c_api::guarded;
using hocket::c_api::invalid;
using hocket::c_api::kOfParent;
using hocket::c_api::neighbours_of;
using hocket::c_api::number_of;
using hocket::c_api::report;
using hocket::c_api::write_text;
using hocket::communicator::Arguments;
using hocket::schedule::Collective;
using hocket::schedule::Neighbours;

namespace {

using Made = Result<std::shared_ptr<const Neighbours>>;

enum class Kind : uint32_t { kLists, kGrid, kStencil };

// What a rank has been passed, in the words of the library.
struct Passed {
  Kind kind = Kind::kLists;
  std::string wrong;  // "": nothing, as far as the rank can tell by itself
  Neighbours::Lists lists;
  std::vector<uint32_t> lengths;
  std::vector<bool> is_periodic;
  std::vector<int32_t> offsets;
};

// What ranks tell each other of it.
struct Told {
  Kind kind;
  uint32_t is_wrong;
  uint32_t sources;
  uint32_t destinations;
  uint64_t grid;  // a digest
};

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kLists:
      return "hocket_neighbourhood_create";
    case Kind::kGrid:
      return "hocket_neighbourhood_create_grid";
    case Kind::kStencil:
      break;
  }
  return "hocket_neighbourhood_create_stencil";
}

Told told_of(const Passed& passed) {
  std::string text;
  for (const uint32_t length : passed.lengths) text += std::to_string(length) + " ";
  for (const bool periodic : passed.is_periodic) text += periodic ? 'p' : '-';
  for (const int32_t offset : passed.offsets) text += " " + std::to_string(offset);
  return {passed.kind, passed.wrong.empty() ? 0u : 1u, static_cast<uint32_t>(passed.lists.sources.size()),
          static_cast<uint32_t>(passed.lists.destinations.size()), hocket::platform::hash_of(text)};
}

// Not ok: the same on all ranks, but for the text.
Status compare(const std::vector<Told>& told, const Passed& own) {
  const std::string function = name_of(own.kind);
  const auto text_of = [](size_t rank) { return "rank " + std::to_string(rank); };
  const auto wrong = std::find_if(told.begin(), told.end(), [](const Told& one) { return one.is_wrong != 0; });
  if (wrong != told.end()) {
    const std::string other = text_of(static_cast<size_t>(wrong - told.begin()));
    return {Code::kInvalidArgument,
            function + ": " +
                (own.wrong.empty() ? other + " has passed what can't be right; its own error says what" : own.wrong)};
  }
  for (size_t rank = 1; rank < told.size(); ++rank) {
    if (told[rank].kind != told[0].kind)
      return {Code::kMismatch, std::string("rank 0 calls ") + name_of(told[0].kind) + " where " + text_of(rank) +
                                   " calls " + name_of(told[rank].kind)};
    if (told[rank].grid != told[0].grid)
      return {Code::kMismatch, function + ": rank 0 and " + text_of(rank) +
                                   " pass different grids; lengths, periods and offsets must be the same on all ranks"};
  }
  return Status::ok();
}

hocket_status_t gather(hocket_comm_t* comm, const void* mine, size_t bytes, void* all) {
  Arguments arguments;
  arguments.collective = Collective::kAllgather;
  arguments.input = static_cast<const std::byte*>(mine);
  arguments.output = static_cast<std::byte*>(all);
  arguments.count = bytes;
  return hocket::c_api::run(comm, arguments);
}

// Both lists of all ranks, one behind the other.
hocket_status_t gather_lists(hocket_comm_t* comm, const std::vector<Told>& told, const Neighbours::Lists& own,
                             std::vector<Neighbours::Lists>& all) {
  std::vector<uint64_t> counts(told.size());
  for (size_t rank = 0; rank < told.size(); ++rank)
    counts[rank] = uint64_t{told[rank].sources} + told[rank].destinations;
  std::vector<uint32_t> mine = own.sources;
  mine.insert(mine.end(), own.destinations.begin(), own.destinations.end());
  std::vector<uint32_t> lists(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
  Arguments arguments;
  arguments.collective = Collective::kAllgatherv;
  arguments.input = reinterpret_cast<const std::byte*>(mine.data());
  arguments.output = reinterpret_cast<std::byte*>(lists.data());
  arguments.count = mine.size();
  arguments.combiner.element_bytes = sizeof(uint32_t);
  arguments.output_blocks.counts = counts.data();
  HOCKET_CHECKED(hocket::c_api::run(comm, arguments));
  auto next = lists.begin();
  const auto take = [&](uint32_t count) {
    next += count;
    return std::vector<uint32_t>(next - count, next);
  };
  for (const Told& one : told) {
    Neighbours::Lists& rank = all.emplace_back();
    rank.sources = take(one.sources);
    rank.destinations = take(one.destinations);
  }
  return HOCKET_OK;
}

hocket_status_t make_together(hocket_comm_t* comm, Passed& passed, hocket_neighbourhood_t** neighbourhood) {
  const uint32_t size = comm->communicator->size();
  const Told mine = told_of(passed);
  std::vector<Told> told(size);
  HOCKET_CHECKED(gather(comm, &mine, sizeof mine, told.data()));
  if (const Status status = compare(told, passed); !status.is_ok()) return report(status);
  std::vector<Neighbours::Lists> lists;
  if (passed.kind == Kind::kLists) HOCKET_CHECKED(gather_lists(comm, told, passed.lists, lists));
  Made made = passed.kind == Kind::kLists ? Neighbours::of_lists(lists)
              : passed.kind == Kind::kGrid
                  ? Neighbours::of_grid(std::move(passed.lengths), std::move(passed.is_periodic), size)
                  : Neighbours::of_stencil(std::move(passed.lengths), std::move(passed.is_periodic),
                                           std::move(passed.offsets), size);
  if (!made.is_ok())
    return report(Status(made.status().code(), std::string(name_of(passed.kind)) + ": " + made.status().message()));
  *neighbourhood = hocket::c_api::enrol(*comm, made.take());
  return HOCKET_OK;
}

hocket_status_t create(hocket_comm_t* comm, Passed passed, hocket_neighbourhood_t** neighbourhood) {
  const char* const function = name_of(passed.kind);
  if (neighbourhood != nullptr) *neighbourhood = nullptr;
  if (comm == nullptr) return invalid(function, "`comm` is NULL");
  if (!comm->communicator->context().is_owner()) return invalid(function, kOfParent);
  if (neighbourhood == nullptr) passed.wrong = "`neighbourhood` is NULL; pass where to put the handle";
  return guarded(*comm->communicator, [&] { return make_together(comm, passed, neighbourhood); });
}
// --- what ranks pass -------------------------------------------------------------------------------------------------

void read_list(const char* name, int count, const int* ranks, std::vector<uint32_t>& list, std::string& wrong) {
  if (count < 0) {
    wrong = std::string("`") + name + "` is " + std::to_string(count) + "; it is 0 or more";
  } else if (count > 0 && ranks == nullptr) {
    wrong = std::string("the ranks of `") + name + "` are NULL";
  } else if (count > 0) {
    list.assign(ranks, ranks + count);
  }
}

void read_grid(int dimensions, const int* lengths, const int* periodic, Passed& passed) {
  if (dimensions < 0) {
    passed.wrong = "`dimensions` is " + std::to_string(dimensions) + "; it is 0 or more";
  } else if (dimensions > 0 && (lengths == nullptr || periodic == nullptr)) {
    passed.wrong = "`lengths` or `periodic` is NULL";
  } else {
    for (int d = 0; d < dimensions; ++d) {
      if (lengths[d] < 1)
        passed.wrong =
            "dimension " + std::to_string(d) + " is " + std::to_string(lengths[d]) + " long; it is 1 or more";
      passed.lengths.push_back(static_cast<uint32_t>(std::max(lengths[d], 0)));
      passed.is_periodic.push_back(periodic[d] != 0);
    }
  }
}

void read_offsets(int neighbours, const int* offsets, Passed& passed) {
  if (!passed.wrong.empty()) return;
  if (neighbours < 0) {
    passed.wrong = "`neighbours` is " + std::to_string(neighbours) + "; it is 0 or more";
  } else if (neighbours > 0 && offsets == nullptr) {
    passed.wrong = "`offsets` is NULL";
  } else if (neighbours > 0) {
    passed.offsets.assign(offsets, offsets + size_t(neighbours) * passed.lengths.size());
  }
}

void copy_ranks(std::span<const uint32_t> ranks, int* out) {
  if (out == nullptr) return;
  std::transform(ranks.begin(), ranks.end(), out, [](uint32_t rank) { return static_cast<int>(rank); });
}

}  // namespace

hocket_status_t hocket_neighbourhood_create(hocket_comm_t* comm, int sources, const int* source_ranks, int destinations,
                                            const int* destination_ranks, hocket_neighbourhood_t** neighbourhood) {
  return guarded([&] {
    Passed passed;
    read_list("sources", sources, source_ranks, passed.lists.sources, passed.wrong);
    read_list("destinations", destinations, destination_ranks, passed.lists.destinations, passed.wrong);
    return create(comm, std::move(passed), neighbourhood);
  });
}

hocket_status_t hocket_neighbourhood_create_grid(hocket_comm_t* comm, int dimensions, const int* lengths,
                                                 const int* periodic, hocket_neighbourhood_t** neighbourhood) {
  return guarded([&] {
    Passed passed;
    passed.kind = Kind::kGrid;
    read_grid(dimensions, lengths, periodic, passed);
    return create(comm, std::move(passed), neighbourhood);
  });
}

hocket_status_t hocket_neighbourhood_create_stencil(hocket_comm_t* comm, int dimensions, const int* lengths,
                                                    const int* periodic, int neighbours, const int* offsets,
                                                    hocket_neighbourhood_t** neighbourhood) {
  return guarded([&] {
    Passed passed;
    passed.kind = Kind::kStencil;
    read_grid(dimensions, lengths, periodic, passed);
    read_offsets(neighbours, offsets, passed);
    return create(comm, std::move(passed), neighbourhood);
  });
}

hocket_status_t hocket_neighbourhood_destroy(hocket_neighbourhood_t* neighbourhood) {
  delete neighbourhood;
  return HOCKET_OK;
}

hocket_status_t hocket_neighbourhood_counts(const hocket_neighbourhood_t* neighbourhood, int* sources,
                                            int* destinations) {
  if (neighbourhood == nullptr) return invalid("hocket_neighbourhood_counts", "`neighbourhood` is NULL");
  const Neighbours& neighbours = neighbours_of(neighbourhood);
  if (sources != nullptr) *sources = static_cast<int>(neighbours.sources(neighbourhood->rank).size());
  if (destinations != nullptr) *destinations = static_cast<int>(neighbours.destinations(neighbourhood->rank).size());
  return HOCKET_OK;
}

hocket_status_t hocket_neighbourhood_ranks(const hocket_neighbourhood_t* neighbourhood, int* source_ranks,
                                           int* destination_ranks) {
  if (neighbourhood == nullptr) return invalid("hocket_neighbourhood_ranks", "`neighbourhood` is NULL");
  copy_ranks(neighbourhood->neighbours->sources(neighbourhood->rank), source_ranks);
  copy_ranks(neighbourhood->neighbours->destinations(neighbourhood->rank), destination_ranks);
  return HOCKET_OK;
}

hocket_status_t hocket_neighbourhood_explain(const hocket_neighbourhood_t* neighbourhood, const char* collective,
                                             size_t bytes, char* text, size_t capacity) {
  constexpr const char* kName = "hocket_neighbourhood_explain";
  if (neighbourhood == nullptr || collective == nullptr || text == nullptr || capacity == 0)
    return invalid(kName, "an argument is NULL or 0");
  const auto known = hocket::schedule::find_any_collective(collective);
  if (!known || !hocket::schedule::is_among_neighbors(*known)) {
    return invalid(kName, ("`" + std::string(collective) +
                           "` is no collective among neighbours; they are called "
                           "neighbor_allgather, neighbor_allgatherv, neighbor_alltoall and neighbor_alltoallv")
                              .c_str());
  }
  return guarded([&] {
    hocket::communicator::CallShape shape;
    shape.collective = *known;
    shape.root = number_of(neighbourhood);
    if (!hocket::schedule::is_vector(*known)) shape.count = bytes;
    return write_text(kName, comm_of(neighbourhood)->communicator->explain(shape), text, capacity);
  });
}
