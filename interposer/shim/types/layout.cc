// SPDX-License-Identifier: BSD-3-Clause
#include "shim/types/layout.h"

#include <climits>
#include <cstdint>
#include <span>

#include "shim/job/job.h"
#include "shim/types/construction.h"

namespace hocket::interposer {
namespace {

// The types that another was made of.
class InnerTypes {
 public:
  InnerTypes(MPI_Datatype type, const Construction& made) { is_read_ = read_contents(type, made, contents_); }
  ~InnerTypes() {
    for (MPI_Datatype& type : contents_.types) {
      Construction made;
      if (is_read_ && read_construction(type, made) && !is_predefined(made)) next_pmpi().Type_free(&type);
    }
  }
  InnerTypes(const InnerTypes&) = delete;
  InnerTypes& operator=(const InnerTypes&) = delete;

  bool is_read() const { return is_read_; }
  const Contents& contents() const { return contents_; }

 private:
  Contents contents_;
  bool is_read_ = false;
};

struct Element {
  Layout layout;
  MPI_Aint extent = 0;
};

bool read_element(MPI_Datatype type, Element& element) {
  MPI_Aint lb = 0;
  return next_pmpi().Type_get_extent(type, &lb, &element.extent) == MPI_SUCCESS && read_layout(type, element.layout);
}

void add_elements(const Element& element, MPI_Aint at, int64_t count, Layout& layout) {
  const std::vector<Pieces>& pieces = element.layout.pieces;
  const bool is_dense =
      pieces.size() == 1 && pieces[0].number == 1 && static_cast<MPI_Aint>(pieces[0].bytes) == element.extent;
  if (is_dense) return layout.add(at + pieces[0].at, pieces[0].bytes * static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    for (const Pieces& one : pieces) {
      const MPI_Aint first = at + static_cast<MPI_Aint>(i) * element.extent + one.at;
      for (size_t j = 0; j < one.number; ++j) layout.add(first + static_cast<MPI_Aint>(j) * one.distance, one.bytes);
    }
  }
}

// All that a constructor was given in the order of its arguments, whichever width it has.
std::vector<int64_t> numbers_of(const Contents& contents, int combiner) {
  std::vector<int64_t> all(contents.integers.begin(), contents.integers.end());
  if (combiner == MPI_COMBINER_SUBARRAY && !contents.counts.empty()) {
    all.insert(all.begin() + 1, contents.counts.begin(), contents.counts.end());
    return all;
  }
  all.insert(all.end(), contents.addresses.begin(), contents.addresses.end());
  all.insert(all.end(), contents.counts.begin(), contents.counts.end());
  return all;
}

// Rows of a subarray, in the order of memory: `fastest` is the dimension whose elements are neighbours.
void add_subarray(const Element& element, std::span<const int64_t> numbers, Layout& layout) {
  const auto dimensions = static_cast<size_t>(numbers[0]);
  const auto sizes = numbers.subspan(1, dimensions), lengths = numbers.subspan(1 + dimensions, dimensions),
             starts = numbers.subspan(1 + 2 * dimensions, dimensions);
  const bool is_c = numbers[1 + 3 * dimensions] == MPI_ORDER_C;
  // From the slowest dimension to the fastest.
  const auto dimension = [&](size_t i) { return is_c ? i : dimensions - 1 - i; };
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < dimensions; ++i) rows *= lengths[dimension(i)];
  const size_t fastest = dimension(dimensions - 1);
  std::vector<int64_t> place(dimensions, 0);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t at = 0;
    for (size_t i = 0; i + 1 < dimensions; ++i) {
      at = (at + starts[dimension(i)] + place[i]) * sizes[dimension(i + 1)];
    }
    add_elements(element, (at + starts[fastest]) * element.extent, lengths[fastest], layout);
    for (size_t i = dimensions - 1; i > 0; --i) {
      if (++place[i - 1] < lengths[dimension(i - 1)]) break;
      place[i - 1] = 0;
    }
  }
}

bool add_struct(const Contents& contents, std::span<const int64_t> numbers, Layout& layout) {
  const auto count = static_cast<size_t>(numbers[0]);
  for (size_t i = 0; i < count; ++i) {
    Element element;
    if (!read_element(contents.types[i], element)) return false;
    add_elements(element, numbers[1 + count + i], numbers[1 + i], layout);
  }
  return true;
}

// False: not by a constructor that is known here.
bool add_made_of_one(int combiner, const Element& element, std::span<const int64_t> numbers, Layout& layout) {
  const MPI_Aint extent = element.extent;
  switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      add_elements(element, 0, 1, layout);
      return true;
    case MPI_COMBINER_CONTIGUOUS:
      add_elements(element, 0, numbers[0], layout);
      return true;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: {
      const int64_t unit = combiner == MPI_COMBINER_VECTOR ? extent : 1;
      for (int64_t i = 0; i < numbers[0]; ++i) add_elements(element, i * numbers[2] * unit, numbers[1], layout);
      return true;
    }
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED: {
      const int64_t unit = combiner == MPI_COMBINER_INDEXED ? extent : 1;
      const auto count = static_cast<size_t>(numbers[0]);
      for (size_t i = 0; i < count; ++i) add_elements(element, numbers[1 + count + i] * unit, numbers[1 + i], layout);
      return true;
    }
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const int64_t unit = combiner == MPI_COMBINER_INDEXED_BLOCK ? extent : 1;
      const auto count = static_cast<size_t>(numbers[0]);
      for (size_t i = 0; i < count; ++i) add_elements(element, numbers[2 + i] * unit, numbers[1], layout);
      return true;
    }
    case MPI_COMBINER_SUBARRAY:
      add_subarray(element, numbers, layout);
      return true;
    default:
      return false;
  }
}

// `places`: of each packed byte, from `lb` on.
bool find_places(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent, std::vector<uint32_t>& places) {
  const int bytes = static_cast<int>(places.size());
  std::vector<unsigned char> element(static_cast<size_t>(extent)), packed(places.size());
  for (int shift = 0; shift < 32 && (extent - 1) >> shift != 0; shift += 8) {
    for (size_t i = 0; i < element.size(); ++i) element[i] = static_cast<unsigned char>(i >> shift);
    int position = 0;
    if (next_pmpi().Pack(element.data() - lb, 1, type, packed.data(), bytes, &position, hidden_comm()) != MPI_SUCCESS) {
      return false;
    }
    for (size_t i = 0; i < places.size(); ++i) places[i] |= static_cast<uint32_t>(packed[i]) << shift;
  }
  return true;
}

// `is_whole`: there is no other order than that of memory.
bool read_by_packing(MPI_Datatype type, bool is_whole, Layout& layout) {
  MPI_Count size = 0;
  MPI_Aint lb = 0, extent = 0;
  if (next_pmpi().Type_size_x(type, &size) != MPI_SUCCESS || size < 0 || size > INT_MAX) return false;
  if (next_pmpi().Type_get_true_extent(type, &lb, &extent) != MPI_SUCCESS || extent > INT_MAX) return false;
  if (size == 0) return true;
  if (is_whole && size == static_cast<MPI_Count>(extent)) {
    layout.add(lb, static_cast<size_t>(size));
    return true;
  }
  std::vector<uint32_t> places(static_cast<size_t>(size), 0);
  // The type itself need not be committed.
  MPI_Datatype one;
  if (next_pmpi().Type_contiguous(1, type, &one) != MPI_SUCCESS) return false;
  const bool is_found = next_pmpi().Type_commit(&one) == MPI_SUCCESS && find_places(one, lb, extent, places);
  next_pmpi().Type_free(&one);
  for (size_t first = 0; is_found && first < places.size();) {
    size_t end = first + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
    layout.add(lb + static_cast<MPI_Aint>(places[first]), end - first);
    first = end;
  }
  return is_found;
}

}  // namespace

void Layout::add(MPI_Aint at, size_t bytes) {
  if (bytes == 0) return;
  if (!pieces.empty()) {
    Pieces& last = pieces.back();
    if (last.number == 1 && at == last.at + static_cast<MPI_Aint>(last.bytes)) {
      last.bytes += bytes;
      return;
    }
    if (last.number == 1 && bytes == last.bytes) last.distance = at - last.at;
    if (bytes == last.bytes && at == last.at + static_cast<MPI_Aint>(last.number) * last.distance) {
      ++last.number;
      return;
    }
  }
  pieces.push_back({at, bytes, 1, 0});
}

bool read_layout(MPI_Datatype type, Layout& layout) {
  Construction made;
  if (!read_construction(type, made)) return false;
  if (is_predefined(made)) return read_by_packing(type, true, layout);
  const InnerTypes inner(type, made);
  if (!inner.is_read()) return false;
  const Contents& contents = inner.contents();
  const std::vector<int64_t> numbers = numbers_of(contents, made.combiner);
  if (made.combiner == MPI_COMBINER_STRUCT) return add_struct(contents, numbers, layout);
  Element element;
  if (contents.types.size() == 1) {
    if (!read_element(contents.types[0], element)) return false;
    if (add_made_of_one(made.combiner, element, numbers, layout)) return true;
  }
  return read_by_packing(type, false, layout);
}

}  // namespace hocket::interposer
