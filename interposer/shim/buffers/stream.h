// SPDX-License-Identifier: BSD-3-Clause
// Elements that don't lie densely as a stream of bytes, of which a piece at a time is packed and sent, or has come and
// is unpacked: so that peers have work while the next piece is packed, and the room stays small. MPI_Pack moves whole
// elements only; an element that is longer than a piece is in the room as a whole.
//
// Thread safety: an object belongs to one call.
#pragma once

#include <algorithm>
#include <cstring>

#include "shim/buffers/packing.h"

namespace hocket::interposer {

class Stream {
 public:
  // Pieces of up to `piece_bytes`.
  Stream(const Elements& elements, size_t piece_bytes, MPI_Comm comm)
      : elements_(elements), packed_(Packed::Use::kInput, comm) {
    // Of an element that is cut, the part that has come, or has not gone yet, lies beside a piece.
    packed_.make_room(std::min(elements.bytes(), piece_bytes + elements.facts->size));
  }

  // The next `bytes` of what is to be sent, good until the next call.
  const unsigned char* pack_next(size_t bytes) {
    if (end_ - begin_ < bytes) pack_more(bytes);
    begin_ += bytes;
    return packed_.bytes() + begin_ - bytes;
  }

  // Where the next piece shall arrive.
  unsigned char* place_for_next() { return packed_.bytes() + end_; }

  // `bytes` have come: unpacks the elements that are complete.
  void unpack_next(size_t bytes) {
    end_ += bytes;
    const size_t complete = end_ / elements_.facts->size;
    if (complete == 0) return;
    packed_.unpack_at(0, elements_.part(done_, complete));
    done_ += complete;
    begin_ = complete * elements_.facts->size;
    move_rest_to_front();
  }

  int error() const { return packed_.error(); }

 private:
  void pack_more(size_t bytes) {
    move_rest_to_front();
    const size_t size = elements_.facts->size;
    const size_t count = std::min((bytes - end_ + size - 1) / size, elements_.count - done_);
    packed_.pack_at(end_, elements_.part(done_, count));
    done_ += count;
    end_ += count * size;
  }

  void move_rest_to_front() {
    std::memmove(packed_.bytes(), packed_.bytes() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }

  const Elements elements_;
  Packed packed_;
  size_t done_ = 0;             // elements that have been packed or unpacked
  size_t begin_ = 0, end_ = 0;  // the bytes in the room that are still to be sent or unpacked
};

}  // namespace hocket::interposer
