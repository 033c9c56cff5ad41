// SPDX-License-Identifier: BSD-3-Clause
#include "shim/types/types.h"

#include <memory>
#include <mutex>
#include <vector>

#include "shim/job/job.h"
#include "shim/types/construction.h"
#include "shim/types/named_types.h"
#include "shim/underneath/attributes.h"
#include "shim/underneath/handle_map.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

// Types made of dense ones by repetition are dense; of others up to this size the layout is tried out.
constexpr MPI_Aint kLargestTried = 16384;

using TypeMap = HandleMap<MPI_Datatype, TypeFacts, 8>;
TypeMap named_types;
int type_keyval = MPI_KEYVAL_INVALID;

// Packs an element in which each byte holds a part of its own number: dense if they come out in order. Two rounds
// tell the bytes of 64 KiB apart.
bool packs_in_order(MPI_Datatype type, const TypeFacts& facts) {
  const MPI_Comm comm = hidden_comm();
  const int bytes = static_cast<int>(facts.size);
  std::vector<unsigned char> element(bytes), packed(bytes);
  for (int shift = 0; shift < 16; shift += 8) {
    for (int i = 0; i < bytes; ++i) element[i] = static_cast<unsigned char>(i >> shift);
    int position = 0;
    const int error = next_pmpi().Pack(element.data() - facts.true_lb, 1, type, packed.data(), bytes, &position, comm);
    if (error != MPI_SUCCESS || position != bytes || element != packed) return false;
  }
  return true;
}

bool read_measures(MPI_Datatype type, TypeFacts& facts, MPI_Aint& true_extent) {
  MPI_Count size = 0;
  MPI_Aint lb = 0;
  if (next_pmpi().Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return false;
  if (next_pmpi().Type_get_extent(type, &lb, &facts.extent) != MPI_SUCCESS) return false;
  if (next_pmpi().Type_get_true_extent(type, &facts.true_lb, &true_extent) != MPI_SUCCESS) return false;
  facts.size = static_cast<size_t>(size);
  return true;
}

bool is_repeated_dense(MPI_Datatype type);

bool is_dense(MPI_Datatype type, const TypeFacts& facts, MPI_Aint true_extent) {
  if (static_cast<MPI_Aint>(facts.size) != true_extent) return false;
  if (true_extent == 0) return true;
  return is_repeated_dense(type) || (true_extent <= kLargestTried && packs_in_order(type, facts));
}

// MPI_Type_contiguous and MPI_Type_dup of something dense.
bool is_repeated_dense(MPI_Datatype type) {
  Construction made;
  if (!read_construction(type, made)) return false;
  if (is_predefined(made)) return true;
  if (made.combiner != MPI_COMBINER_CONTIGUOUS && made.combiner != MPI_COMBINER_DUP) return false;
  MPI_Datatype inner;
  if (!read_inner_type(type, made, inner)) return false;
  if (const TypeFacts* named = named_types.find(inner)) return named->is_dense_array(2);
  TypeFacts facts;
  MPI_Aint true_extent = 0;
  // The inner type need not be committed, and can't be packed then: only repetition is looked through.
  const bool dense = read_measures(inner, facts, true_extent) && static_cast<MPI_Aint>(facts.size) == true_extent &&
                     facts.extent == true_extent && is_repeated_dense(inner);
  if (!read_construction(inner, made) || !is_predefined(made)) next_pmpi().Type_free(&inner);
  return dense;
}

const TypeFacts* known_facts(MPI_Datatype type) {
  void* value = nullptr;
  int found = 0;
  if (next_pmpi().Type_get_attr(type, type_keyval, &value, &found) != MPI_SUCCESS || found == 0) return nullptr;
  return static_cast<const TypeFacts*>(value);
}

const TypeFacts* examine(MPI_Datatype type) {
  // Two threads may meet a type at the same time; setting the attribute twice would pull the facts away under one.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const TypeFacts* facts = known_facts(type)) return facts;
  auto facts = std::make_unique<TypeFacts>();
  MPI_Aint true_extent = 0;
  Construction made;
  if (!read_measures(type, *facts, true_extent)) return nullptr;
  if (!read_construction(type, made)) return nullptr;
  facts->is_named = made.combiner == MPI_COMBINER_NAMED;
  set_parametric_ops(made.combiner, *facts);
  facts->is_dense = is_dense(type, *facts, true_extent);
  // From then on delete_value<MPI_Datatype, TypeFacts> has it.
  if (next_pmpi().Type_set_attr(type, type_keyval, facts.get()) == MPI_SUCCESS) return facts.release();
  // A good type all the same, and peers wait: good for this call, of which a thread is in one at a time, with two
  // types.
  static thread_local TypeFacts for_this_call[2];
  static thread_local unsigned next = 0;
  TypeFacts& place = for_this_call[next++ % 2];
  place = *facts;
  return &place;
}

}  // namespace

const TypeFacts* find_type(MPI_Datatype type) {
  if (const TypeFacts* facts = named_types.find(type)) [[likely]]
    return facts;
  if (type == handles.type_null) return nullptr;
  // The first inquiry is one by a communicator, since its error goes to that one's handler, which is ours; and one that
  // every MPI answers with an error, not a crash, for a type that has not been committed.
  int position = 0;
  unsigned char nothing = 0;
  if (next_pmpi().Pack(&nothing, 0, type, &nothing, 0, &position, hidden_comm()) != MPI_SUCCESS) return nullptr;
  const TypeFacts* facts = known_facts(type);
  return facts != nullptr ? facts : examine(type);
}

MPI_Datatype uint64_type() {
  for (const NamedType& type : native_types()) {
    int size = 0;
    if (type.kind != Kind::kUnsigned || type.handle == handles.type_null) continue;
    if (next_pmpi().Type_size(type.handle, &size) == MPI_SUCCESS && size == sizeof(uint64_t)) return type.handle;
  }
  return handles.type_null;
}

namespace {

bool measure_named(MPI_Datatype type, TypeFacts& facts) {
  if (const size_t size = size_in_handle(type); size != 0) {
    facts.size = size;
    facts.extent = static_cast<MPI_Aint>(size);
    facts.is_dense = true;
    return true;
  }
  MPI_Aint true_extent = 0;
  int room = 0;
  // Some of these types exist in some builds of an MPI only. Asked by a communicator: see find_type().
  if (next_pmpi().Pack_size(1, type, hidden_comm(), &room) != MPI_SUCCESS) return false;
  if (!read_measures(type, facts, true_extent) || facts.size == 0) return false;
  facts.is_dense = is_dense(type, facts, true_extent);
  return true;
}

}  // namespace

void fill_types() {
  for (const NamedType& type : native_types()) {
    TypeFacts facts;
    if (type.handle == MPI_Datatype{} || type.handle == handles.type_null) continue;
    if (!measure_named(type.handle, facts)) continue;
    facts.is_named = true;
    set_named_ops(type.kind, facts);
    named_types.insert(type.handle, facts);
  }
}

bool watch_types() {
  return next_pmpi().Type_create_keyval(do_not_copy<MPI_Datatype>, delete_value<MPI_Datatype, TypeFacts>, &type_keyval,
                                        nullptr) == MPI_SUCCESS;
}

void unwatch_types() { next_pmpi().Type_free_keyval(&type_keyval); }

}  // namespace hocket::interposer
