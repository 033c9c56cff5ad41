// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier/slots.h"

#include <algorithm>

namespace hocket::schedule {

Slots::Slots(World& world) : world_(world), publishes_(world.size()) {
  for (const Plan& plan : world.plans) slots_ = std::max<uint32_t>(slots_, plan.slots);
  publications_.resize(static_cast<size_t>(slots_) * world.size());
}

void Slots::publish(Where where, const Operands& operands) {
  const Step& step = world_.step(where);
  Publication& publication = at(where.rank, step.slot);
  for (const Access& use : publication.uses) {
    if (is_over(use, where.rank)) continue;
    world_.complain(where, "replaces version " + std::to_string(publication.version) + " while " +
                               world_.mention(use.where) + " may still be using it");
    break;
  }
  const bool exposed = step.kind == StepKind::kExpose;
  const Span memory = exposed ? operands.destination : operands.source;
  owner_touches(where, memory, exposed);
  publishes_[where.rank] = true;
  publication.uses.clear();
  publication.touches.clear();
  publication.version = step.version;
  publication.exposed = exposed;
  publication.where = where;
  publication.stage = world_.stage[where.rank];
  publication.memory = memory;
  publication.clock = world_.clocks.save(where.rank);
  publication.depth = world_.deepen(where, 0);
  publication.put.assign(exposed ? memory.length : 0, Cell{});
  if (!exposed) return;
  for (Cell& cell : world_.cells(where.rank, memory)) cell = Cell{};
}

bool Slots::check_use(Where where, const Publication& publication, Span span) {
  const Step& step = world_.step(where);
  if (publication.version > step.version) {
    world_.complain(where, "may come after " + world_.mention(publication.where) + " has replaced that version");
    return false;
  }
  const bool is_put = step.kind == StepKind::kPut;
  if (is_put != publication.exposed && !(publication.exposed && step.peer == where.rank)) {
    world_.complain(where, is_put ? "puts into memory that is published for reading only"
                                  : "reads memory that is exposed for writing only");
    return false;
  }
  if (span.end() > publication.memory.length) {
    world_.complain(where, "goes to element " + std::to_string(span.end()) + " of a publication of " +
                               std::to_string(publication.memory.length));
    return false;
  }
  return true;
}

std::span<Cell> Slots::use(Where where, const Operands& operands, uint64_t length) {
  const Step& step = world_.step(where);
  Publication& publication = at(step.peer, step.slot);
  const Span span = operands.whole_target ? Span{0, publication.memory.length} : operands.target;
  world_.deepen(where, publication.depth);
  if (!check_use(where, publication, span)) return {};
  if (span.length != length) {
    world_.complain(where, "moves " + std::to_string(length) + " elements where " + std::to_string(span.length) +
                               " of the publication are meant");
    return {};
  }
  if (publication.exposed && step.kind == StepKind::kPut) {
    world_.link(LinkKind::kReady, publication.where, where);
    check_put(where, publication, span);
  } else if (publication.exposed) {
    check_taken(where, publication, span);
    return std::span<Cell>(publication.put).subspan(span.begin, span.length);
  } else {
    const Span read{publication.memory.begin + span.begin, span.length};
    world_.link(LinkKind::kRead, publication.where, where, span.length);
    for (const Access& touch : publication.touches) {
      if (!overlap(touch.span, read)) continue;
      world_.complain(where, "reads " + world_.place(step.peer, std::max(touch.span.begin, read.begin)) + " of rank " +
                                 std::to_string(step.peer) + ", which " + world_.mention(touch.where) +
                                 " may have changed since it was published");
      break;
    }
    publication.uses.push_back({where, world_.stage[where.rank], span});
    return world_.cells(step.peer, read);
  }
  publication.uses.push_back({where, world_.stage[where.rank], span});
  return std::span<Cell>(publication.put).subspan(span.begin, span.length);
}

// A put must neither meet another one nor come when the owner has looked at the place already.
void Slots::check_put(Where where, const Publication& publication, Span span) {
  for (const Access& use : publication.uses) {
    if (!overlap(use.span, span) || is_over(use, where.rank)) continue;
    world_.complain(where, "collides with " + world_.mention(use.where));
    return;
  }
  const Span memory{publication.memory.begin + span.begin, span.length};
  for (const Access& touch : publication.touches) {
    if (!overlap(touch.span, memory)) continue;
    world_.complain(where, "may come after " + world_.mention(touch.where) + ", which uses the same memory");
    return;
  }
}

// The owner takes what has been put: every put must be known to be over.
void Slots::check_taken(Where where, Publication& publication, Span span) {
  for (const Access& use : publication.uses) {
    if (!overlap(use.span, span)) continue;
    const uint64_t taken = std::min(use.span.end(), span.end()) - std::max(use.span.begin, span.begin);
    world_.link(LinkKind::kPut, use.where, where, taken);
    if (is_over(use, where.rank)) continue;
    world_.complain(where, "may come before " + world_.mention(use.where));
  }
  const Span memory{publication.memory.begin + span.begin, span.length};
  publication.touches.push_back({where, world_.stage[where.rank], memory});
}

void Slots::owner_touches(Where where, Span span, bool writes) {
  if (span.length == 0 || !publishes_[where.rank]) return;
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    Publication& publication = at(where.rank, static_cast<uint8_t>(slot));
    if (publication.version == 0 || !overlap(publication.memory, span)) continue;
    if (!writes && !publication.exposed) continue;
    for (const Access& use : publication.uses) {
      const Span used{publication.memory.begin + use.span.begin, use.span.length};
      if (!overlap(used, span) || is_over(use, where.rank)) continue;
      world_.complain(where, std::string(writes ? "writes " : "reads ") +
                                 world_.place(where.rank, std::max(used.begin, span.begin)) + " while " +
                                 world_.mention(use.where) + " may still be using it");
      break;
    }
    publication.touches.push_back({where, world_.stage[where.rank], span});
  }
}

}  // namespace hocket::schedule
