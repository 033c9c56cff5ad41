// SPDX-License-Identifier: BSD-3-Clause
#include "shim/buffers/device_transfer.h"

#include "core/devices/device_memory.h"
#include "shim/job/errors.h"
#include "shim/types/layout.h"

namespace hocket::interposer {
namespace {

using device::Direction;
using device::Rows;

// Pieces in any distance, also backwards or one over the other, which drivers refuse.
// `is_one_memory`: all of them are in the memory that the first is in.
bool copy_pieces(Rows rows, MPI_Aint distance, bool is_one_memory, Direction direction) {
  rows.device_pitch = static_cast<size_t>(distance);
  const bool is_in_rows = is_one_memory && distance >= static_cast<MPI_Aint>(rows.bytes);
  if (rows.number == 1 || is_in_rows) return device::copy(rows, direction);
  const size_t number = rows.number;
  rows.number = 1;
  rows.device_pitch = rows.bytes;
  for (size_t i = 0; i < number; ++i) {
    if (!device::copy(rows, direction)) return false;
    rows.host += rows.host_pitch;
    rows.device += distance;
  }
  return true;
}

// The elements' pieces of one kind, which begin at `device` in the first element and at `host` in the room. The driver
// gets as few copies as there are in one direction, with as many rows as there are in the other.
bool copy_kind(const Pieces& kind, const Elements& elements, unsigned char* host, unsigned char* device,
               Direction direction) {
  const size_t size = elements.facts->size;
  const MPI_Aint extent = elements.facts->extent;
  const bool is_one_memory = elements.buffer != nullptr;
  if (kind.number >= elements.count) {
    for (size_t i = 0; i < elements.count; ++i) {
      const Rows rows{host + i * size, kind.bytes, device + static_cast<MPI_Aint>(i) * extent, 0,
                      kind.bytes,      kind.number};
      if (!copy_pieces(rows, kind.distance, is_one_memory, direction)) return false;
    }
    return true;
  }
  for (size_t i = 0; i < kind.number; ++i) {
    const Rows rows{host + i * kind.bytes, size, device + static_cast<MPI_Aint>(i) * kind.distance, 0, kind.bytes,
                    elements.count};
    if (!copy_pieces(rows, extent, is_one_memory, direction)) return false;
  }
  return true;
}

bool copy_by_layout(const Elements& elements, unsigned char* host, Direction direction) {
  Layout layout;
  if (!read_layout(elements.type, layout)) return false;
  const auto begin = reinterpret_cast<intptr_t>(elements.buffer);
  for (const Pieces& kind : layout.pieces) {
    if (!copy_kind(kind, elements, host, reinterpret_cast<unsigned char*>(begin + kind.at), direction)) return false;
    host += kind.bytes * kind.number;
  }
  return true;
}

int transfer(const Elements& elements, unsigned char* host, Direction direction, MPI_Comm comm) {
  if (elements.bytes() == 0) return MPI_SUCCESS;
  const bool is_done = elements.is_dense()
                           ? device::copy(device::one_row(host, elements.first_byte(), elements.bytes()), direction)
                           : copy_by_layout(elements, host, direction);
  return is_done ? MPI_SUCCESS : raise_error(comm, MPI_ERR_OTHER);
}

int copy_raw(const void* host, const void* device, size_t bytes, Direction direction, MPI_Comm comm) {
  if (bytes == 0 || device::copy(device::one_row(host, device, bytes), direction)) return MPI_SUCCESS;
  return raise_error(comm, MPI_ERR_OTHER);
}

}  // namespace

bool is_beyond_reach(const Elements& elements) {
  if (!device::may_be_there() || elements.bytes() == 0) return false;
  // Absolute addresses may be anywhere, each of them: it is the copies that ask. Otherwise a buffer is one piece of
  // memory (MPI 4.1, "Correct Use of Addresses").
  if (elements.buffer == nullptr && !elements.is_dense()) return true;
  return device::is_beyond_reach(elements.first_byte());
}

int pack_from_device(const Elements& from, unsigned char* to, MPI_Comm comm) {
  return transfer(from, to, Direction::kFromDevice, comm);
}

int unpack_to_device(const unsigned char* from, const Elements& to, MPI_Comm comm) {
  return transfer(to, const_cast<unsigned char*>(from), Direction::kToDevice, comm);
}

int copy_from_device(const void* from, void* to, size_t bytes, MPI_Comm comm) {
  return copy_raw(to, from, bytes, Direction::kFromDevice, comm);
}

int copy_to_device(const void* from, void* to, size_t bytes, MPI_Comm comm) {
  return copy_raw(from, to, bytes, Direction::kToDevice, comm);
}

}  // namespace hocket::interposer
