// SPDX-License-Identifier: BSD-3-Clause
#include "layouts.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

namespace conformance {
namespace {

std::map<std::pair<int, Family>, std::unique_ptr<Layout>> kept;

bool is_uniform(const Family& family) {
  for (const Element* element : family) {
    if (element != family[0]) return false;
  }
  return true;
}

MPI_Aint bytes(const Element* element) { return static_cast<MPI_Aint>(element->size); }

// Gives the type made last another extent, and commits it.
void finish(Layout& layout, MPI_Datatype made, MPI_Aint lower, MPI_Aint extent) {
  MPI_Type_create_resized(made, lower, extent, &layout.type);
  MPI_Type_free(&made);
  layout.extent = extent;
}

void make_nested(Layout& layout, int length, MPI_Datatype base, MPI_Aint size) {
  const int half = length / 2;
  const MPI_Aint stride = (length + 3) * size;
  MPI_Datatype row;
  MPI_Type_vector(half, 1, 2, base, &row);
  MPI_Type_create_hvector(2, 1, stride, row, &layout.type);
  MPI_Type_free(&row);
  for (int i = 0; i < length; ++i) layout.places.push_back(i / half * stride + i % half * 2 * size);
  layout.extent = stride + (length - 1) * size;
}

void make_subarray(Layout& layout, int length, MPI_Datatype base, MPI_Aint size) {
  const int sizes[2] = {3, length + 2};
  const int part[2] = {1, length};
  const int start[2] = {1, 1};
  MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, base, &layout.type);
  for (int i = 0; i < length; ++i) layout.places.push_back((length + 3 + i) * size);
  layout.extent = 3 * (length + 2) * size;
}

// Elements in any places, by the most general constructor.
void make_struct(Layout& layout, const Family& family, MPI_Aint lower, MPI_Aint extent) {
  std::vector<MPI_Datatype> types;
  for (const Element* element : family) types.push_back(element->type);
  const std::vector<int> ones(family.size(), 1);
  MPI_Datatype made;
  MPI_Type_create_struct(static_cast<int>(family.size()), ones.data(), layout.places.data(), types.data(), &made);
  finish(layout, made, lower, extent);
}

// Shapes of sequences of different elements: as a compiler lays a structure out, packed, and backwards.
void make_record(Layout& layout, Shape shape, const Family& family) {
  MPI_Aint end = 0, widest = 1;
  for (const Element* element : family) {
    const MPI_Aint size = bytes(element);
    if (shape == Shape::kStruct) end = (end + size - 1) / size * size;
    if (size > widest) widest = size;
    layout.places.push_back(end);
    end += size;
  }
  if (shape == Shape::kStruct) end = (end + widest - 1) / widest * widest;
  if (shape == Shape::kBackwards) {
    for (size_t i = 0; i < family.size(); ++i) layout.places[i] = end - layout.places[i] - bytes(family[i]);
    end += widest;
  }
  make_struct(layout, family, 0, end);
}

void make_dense(Layout& layout, Shape shape, int length, MPI_Datatype base, MPI_Aint size) {
  MPI_Datatype row;
  MPI_Type_contiguous(length, base, &row);
  const MPI_Aint first = shape == Shape::kPositiveLower ? 3 * size : 0;
  for (int i = 0; i < length; ++i) layout.places.push_back(first + i * size);
  layout.extent = length * size;
  if (shape == Shape::kContiguous) {
    layout.type = row;
  } else if (shape == Shape::kDuplicate) {
    MPI_Type_dup(row, &layout.type);
    MPI_Type_free(&row);
  } else if (shape == Shape::kNegativeLower) {
    finish(layout, row, -2 * size, (length + 3) * size);
  } else {
    MPI_Datatype moved;
    MPI_Type_create_hindexed_block(1, 1, &first, row, &moved);
    MPI_Type_free(&row);
    finish(layout, moved, size, (length + 4) * size);
  }
}

void make_strided(Layout& layout, Shape shape, int length, MPI_Datatype base, MPI_Aint size, int64_t columns) {
  if (shape == Shape::kBlocks) {
    MPI_Type_vector(length / 2, 2, 3, base, &layout.type);
    for (int i = 0; i < length; ++i) layout.places.push_back((i / 2 * 3 + i % 2) * size);
    layout.extent = (length / 2 * 3 - 1) * size;
    return;
  }
  const MPI_Aint stride = shape == Shape::kVector ? 2 : shape == Shape::kBackwards ? -2 : columns;
  for (int i = 0; i < length; ++i) layout.places.push_back(i * stride * size);
  MPI_Type_create_hvector(length, 1, stride * size, base, &layout.type);
  layout.extent = (2 * length - 1) * size;
  if (shape == Shape::kColumns) finish(layout, layout.type, 0, size);
}

void make_indexed(Layout& layout, Shape shape, int length, MPI_Datatype base, MPI_Aint size) {
  std::vector<int> places;
  for (int i = 0; i < length; ++i) {
    places.push_back(shape == Shape::kIndexed ? 2 * (length - 1 - i) + 1 : (i + 1) % length);
    layout.places.push_back(places.back() * size);
  }
  if (shape == Shape::kIndexed) {
    const std::vector<int> ones(places.size(), 1);
    MPI_Type_indexed(length, ones.data(), places.data(), base, &layout.type);
    layout.extent = (2 * length - 1) * size;
  } else {
    MPI_Type_create_indexed_block(length, 1, places.data(), base, &layout.type);
    layout.extent = length * size;
  }
}

void make_uniform(Layout& layout, Shape shape, const Family& family, int64_t columns) {
  const int length = static_cast<int>(family.size());
  const MPI_Aint size = bytes(family[0]);
  const MPI_Datatype base = family[0]->type;
  switch (shape) {
    case Shape::kVector:
    case Shape::kBlocks:
    case Shape::kBackwards:
    case Shape::kColumns:
      return make_strided(layout, shape, length, base, size, columns);
    case Shape::kIndexed:
    case Shape::kRotated:
      return make_indexed(layout, shape, length, base, size);
    case Shape::kNested:
      return make_nested(layout, length, base, size);
    case Shape::kSubarray:
      return make_subarray(layout, length, base, size);
    case Shape::kStruct:
      for (int i = 0; i < length; ++i) layout.places.push_back(i * 3 * size);
      return make_struct(layout, family, 0, (3 * length + 1) * size);
    default:
      return make_dense(layout, shape, length, base, size);
  }
}

// Where this file is wrong about a type, nothing else could be right.
void check(const Layout& layout, Shape shape) {
  int64_t sum = 0;
  for (const Element* element : layout.elements) {
    int bytes_of_element = 0;
    MPI_Type_size(element->type, &bytes_of_element);
    sum += bytes_of_element;
  }
  int size = 0;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_size(layout.type, &size);
  MPI_Type_get_extent(layout.type, &lower, &extent);
  if (size == sum && extent == layout.extent) return;
  std::fprintf(stderr, "shape %s: size %d instead of %lld, extent %lld instead of %lld\n", shape_name(shape), size,
               static_cast<long long>(sum), static_cast<long long>(extent), static_cast<long long>(layout.extent));
  std::exit(3);
}

}  // namespace

const char* shape_name(Shape shape) {
  static const char* const names[kShapes] = {"plain",          "contiguous", "duplicate", "vector", "blocks",
                                             "backwards",      "indexed",    "rotated",   "struct", "negative_lower",
                                             "positive_lower", "subarray",   "nested",    "columns"};
  return names[static_cast<int>(shape)];
}

Layout::~Layout() {
  if (is_made) MPI_Type_free(&type);
}

int64_t instances(Shape shape, const Family& family, int64_t sequences) {
  return shape == Shape::kPlain ? sequences * static_cast<int64_t>(family.size()) : sequences;
}

Shape fitting(Shape shape, const Family& family) {
  if (family.empty()) return Shape::kContiguous;
  if (!is_uniform(family)) {
    switch (shape) {
      case Shape::kBackwards:
      case Shape::kIndexed:
      case Shape::kNegativeLower:
        return Shape::kBackwards;
      case Shape::kPlain:
      case Shape::kContiguous:
      case Shape::kDuplicate:
      case Shape::kRotated:
        return Shape::kContiguous;
      default:
        return Shape::kStruct;
    }
  }
  const bool is_even = family.size() % 2 == 0;
  if (!is_even && (shape == Shape::kBlocks || shape == Shape::kNested)) return Shape::kVector;
  return shape;
}

void make_layout(Layout& layout, Shape shape, const Family& family, int64_t columns) {
  layout.elements = family;
  if (shape == Shape::kPlain) {
    layout.type = family[0]->type;
    layout.elements = {family[0]};
    layout.places = {0};
    layout.extent = bytes(family[0]);
    return;
  }
  if (family.empty()) {
    MPI_Type_contiguous(0, MPI_INT, &layout.type);
  } else if (is_uniform(family)) {
    make_uniform(layout, shape, family, columns > 0 ? columns : 1);
  } else {
    make_record(layout, shape, family);
  }
  MPI_Type_commit(&layout.type);
  layout.is_made = true;
  check(layout, shape);
}

const Layout& kept_layout(Shape shape, const Family& family) {
  std::unique_ptr<Layout>& layout = kept[{static_cast<int>(shape), family}];
  if (layout == nullptr) {
    layout = std::make_unique<Layout>();
    make_layout(*layout, shape, family, 1);
  }
  return *layout;
}

void forget_layouts() { kept.clear(); }

}  // namespace conformance
