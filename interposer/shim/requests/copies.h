// SPDX-License-Identifier: BSD-3-Clause
// What a call that is started works on in place of a buffer whose elements don't lie densely, or where only a device's
// driver reaches them: packed when the call starts, unpacked when it is over. The program may have freed the types by
// then.
//
// Thread safety: an object belongs to one call.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "shim/buffers/own_copy.h"
#include "shim/buffers/sides.h"

namespace hocket::interposer {

class Copies {
 public:
  Copies() = default;
  ~Copies();
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // Rooms for the copies. Without memory the job ends: peers wait for this rank.
  unsigned char* make_input(size_t bytes) { return make(input_, bytes); }
  unsigned char* make_output(size_t bytes) { return make(output_, bytes); }

  // These elements are packed to `room` at each start, or unpacked from it at each end. What is to be unpacked may be
  // less than there is room for.
  void pack_from(const Elements& elements, unsigned char* room) { add(to_pack_, elements, room); }
  void unpack_to(const Elements& elements, unsigned char* room) { add(to_unpack_, elements, room); }
  // The same for all blocks of a side, one after the other in the room, and for one.
  void pack_side(const Side& side, const Blocks& blocks, unsigned char* room);
  void pack_block(const Side& side, const Blocks& blocks, int index, unsigned char* room);
  void unpack_side(const Side& side, const Blocks& blocks, unsigned char* room);
  // Bytes of a device as they lie.
  void copy_from(const void* device, size_t bytes, unsigned char* room) { raw_in_ = {device, bytes, room}; }
  void copy_to(void* device, size_t bytes, unsigned char* room) { raw_out_ = {device, bytes, room}; }
  // All of it within this rank's memory, at each start and the end that follows. False: no memory.
  [[nodiscard]] bool copy_within(const OwnCopy& copy);

  // MPI error codes; what goes wrong has been raised by the MPI. pack() once before keep().
  int pack(MPI_Comm comm) const;
  int unpack(MPI_Comm comm) const;
  // Types of the elements are held from here on: for unpacking, and for packing too if the call is started again.
  int keep(bool is_started_again);

 private:
  struct Piece {
    Elements elements;
    TypeFacts facts;  // of the elements: find_type() lends them for a while only
    unsigned char* room;
    Elements with_facts() const { return {elements.buffer, elements.count, elements.type, &facts}; }
  };
  struct Raw {
    const void* device = nullptr;
    size_t bytes = 0;
    unsigned char* room = nullptr;
  };
  struct Straight {
    const unsigned char* from;
    unsigned char* to;
    size_t bytes;
  };
  static void add(std::vector<Piece>& pieces, const Elements& elements, unsigned char* room) {
    if (elements.bytes() != 0) pieces.push_back({elements, *elements.facts, room});
  }
  static unsigned char* make(std::unique_ptr<unsigned char[]>& room, size_t bytes);
  static void add_side(std::vector<Piece>& pieces, const Side& side, const Blocks& blocks, unsigned char* room);
  int hold_types(std::vector<Piece>& pieces);

  std::vector<Piece> to_pack_, to_unpack_;
  Raw raw_in_, raw_out_;
  std::vector<Straight> straight_;
  std::unique_ptr<unsigned char[]> input_, output_;
  std::vector<std::unique_ptr<unsigned char[]>> within_;
  std::vector<MPI_Datatype> held_;
};

}  // namespace hocket::interposer
