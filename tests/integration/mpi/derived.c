// SPDX-License-Identifier: BSD-3-Clause
// Derived types in broadcasts and under user-defined operations: different layouts of one signature on different ranks,
// gaps that stay untouched, types whose elements are not in order, MPI_BOTTOM, operations that don't commute.
#include <stddef.h>

#include "check.h"

enum { kColumns = 17, kRows = 400 };

static void vector_at_root_contiguous_elsewhere(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Datatype column;
  MPI_Type_vector(kRows, 1, kColumns, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int root = 0; root < size; ++root) {
    static double matrix[kRows * kColumns], dense[kRows];
    for (int i = 0; i < kRows * kColumns; ++i) matrix[i] = root * 100000 + i;
    memset(dense, 0, sizeof dense);
    if (rank == root) {
      MPI_Bcast(matrix + 3, 1, column, root, comm);
    } else {
      MPI_Bcast(dense, kRows, MPI_DOUBLE, root, comm);
      for (int i = 0; i < kRows; ++i) CHECK(dense[i] == root * 100000 + i * kColumns + 3, "row %d", i);
    }
    // The other way round: the gaps between what arrives stay as they were.
    for (int i = 0; i < kRows * kColumns; ++i) matrix[i] = -1;
    for (int i = 0; i < kRows; ++i) dense[i] = rank == root ? i : 0;
    if (rank == root) {
      MPI_Bcast(dense, kRows, MPI_DOUBLE, root, comm);
    } else {
      MPI_Bcast(matrix + 5, 1, column, root, comm);
      for (int i = 0; i < kRows * kColumns; ++i) {
        CHECK(matrix[i] == (i % kColumns == 5 ? i / kColumns : -1), "place %d holds %g", i, matrix[i]);
      }
    }
  }
  MPI_Type_free(&column);
}

#if MPI_VERSION >= 4
static void types_made_with_large_counts(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Datatype pairs, row;
  MPI_Type_vector_c(5, 2, 4, MPI_INT, &pairs);
  MPI_Type_contiguous_c(5000, MPI_INT, &row);
  MPI_Type_commit(&pairs);
  MPI_Type_commit(&row);
  static int data[10000];
  for (int root = 0; root < size; ++root) {
    for (int i = 0; i < 20; ++i) data[i] = rank == root ? i : -1;
    if (rank == root) {
      MPI_Bcast(data, 1, pairs, root, comm);
    } else {
      MPI_Bcast_c(data, 10, MPI_INT, root, comm);
      for (int i = 0; i < 10; ++i) CHECK(data[i] == i / 2 * 4 + i % 2, "place %d holds %d", i, data[i]);
    }
    for (int i = 0; i < 10000; ++i) data[i] = rank == root ? i + root : -1;
    MPI_Bcast_c(data, rank == root ? 2 : 10000, rank == root ? row : MPI_INT, root, comm);
    for (int i = 0; i < 10000; ++i) CHECK(data[i] == i + root, "place %d holds %d", i, data[i]);
  }
  MPI_Type_free(&pairs);
  MPI_Type_free(&row);
}
#endif

static void elements_out_of_order(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int displacements[3] = {2, 1, 0};  // no gaps, but back to front
  MPI_Datatype backwards;
  MPI_Type_create_indexed_block(3, 1, displacements, MPI_INT, &backwards);
  MPI_Type_commit(&backwards);
  for (int count = 1; count <= 4; ++count) {
    int data[12], root = count % size;
    for (int i = 0; i < 12; ++i) data[i] = rank == root ? i : -1;
    if (rank == root) {
      MPI_Bcast(data, count, backwards, root, comm);
    } else {
      MPI_Bcast(data, 3 * count, MPI_INT, root, comm);
      for (int i = 0; i < 3 * count; ++i) CHECK(data[i] == i / 3 * 3 + 2 - i % 3, "place %d holds %d", i, data[i]);
    }
  }
  MPI_Type_free(&backwards);
}

static void absolute_addresses(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  static int a;
  static double b[5];
  MPI_Aint places[2];
  const int lengths[2] = {1, 5};
  const MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Get_address(&a, &places[0]);
  MPI_Get_address(b, &places[1]);
  MPI_Datatype both;
  MPI_Type_create_struct(2, lengths, places, parts, &both);
  MPI_Type_commit(&both);
  const int root = size - 1;
  a = rank == root ? 42 : 0;
  for (int i = 0; i < 5; ++i) b[i] = rank == root ? i + .5 : 0;
  MPI_Bcast(MPI_BOTTOM, 1, both, root, comm);
  CHECK(a == 42 && b[0] == .5 && b[4] == 4.5, "%d %g %g", a, b[0], b[4]);
  MPI_Type_free(&both);
}

static void repeated_dense_types(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  static int data[30000];
  for (int length = 1; length <= 10000; length = length * 10) {
    MPI_Datatype row, copy;
    MPI_Type_contiguous(length, MPI_INT, &row);
    MPI_Type_dup(row, &copy);
    MPI_Type_commit(&copy);
    const int root = length % size;
    for (int i = 0; i < 3 * length; ++i) data[i] = rank == root ? i * 3 : -1;
    MPI_Bcast(data, 3, copy, root, comm);
    for (int i = 0; i < 3 * length; ++i) CHECK(data[i] == i * 3, "length %d place %d holds %d", length, i, data[i]);
    MPI_Type_free(&copy);
    MPI_Type_free(&row);
  }
}

// Affine maps x -> m x + c under composition modulo a prime: associative, but the order matters.
struct Map {
  uint32_t m, gap, c;
};
static const uint32_t kPrime = 65521;

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct Map* a = (const struct Map*)in;
  struct Map* b = (struct Map*)inout;
  for (int i = 0; i < *count; ++i) {
    const uint32_t m = (uint32_t)((uint64_t)a[i].m * b[i].m % kPrime);
    b[i].c = (uint32_t)(((uint64_t)a[i].m * b[i].c + a[i].c) % kPrime);
    b[i].m = m;
  }
}

static void add_longs(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((long*)inout)[i] += ((const long*)in)[i];
}

static void fill_maps(struct Map* maps, int count, int rank, uint32_t gap) {
  for (int i = 0; i < count; ++i) {
    maps[i] = (struct Map){(uint32_t)(2 + rank * 31 + i) % kPrime, gap, (uint32_t)(5 + rank * 17 + i * 3) % kPrime};
  }
}

static struct Map fold(int size, int i) {
  struct Map all, one;
  for (int rank = size - 1; rank >= 0; --rank) {
    one = (struct Map){(uint32_t)(2 + rank * 31 + i) % kPrime, 0, (uint32_t)(5 + rank * 17 + i * 3) % kPrime};
    if (rank == size - 1) {
      all = one;
    } else {
      int count = 1;
      compose(&one, &all, &count, NULL);
    }
  }
  return all;
}

static void operations_that_do_not_commute(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {offsetof(struct Map, m), offsetof(struct Map, c)};
  const MPI_Datatype parts[2] = {MPI_UINT32_T, MPI_UINT32_T};
  MPI_Datatype type;  // with a gap in the middle
  MPI_Type_create_struct(2, lengths, places, parts, &type);
  MPI_Type_commit(&type);
  enum { kMost = 3000 };
  static struct Map input[kMost], result[kMost];
  const int counts[] = {1, 2, 100, kMost};
  for (int c = 0; c < 4; ++c) {
    for (int in_place = 0; in_place < 2; ++in_place) {
      const int count = counts[c], root = c % size;
      fill_maps(input, count, rank, 7);
      fill_maps(result, count, rank, 9);
      MPI_Allreduce(in_place ? MPI_IN_PLACE : (void*)input, result, count, type, op, comm);
      for (int i = 0; i < count; ++i) {
        const struct Map right = fold(size, i);
        CHECK(result[i].m == right.m && result[i].c == right.c && result[i].gap == 9, "count %d place %d: %u %u %u",
              count, i, result[i].m, result[i].c, result[i].gap);
      }
      fill_maps(result, count, rank, 9);
      MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : (void*)input, result, count, type, op, root, comm);
      for (int i = 0; i < count && rank == root; ++i) {
        const struct Map right = fold(size, i);
        CHECK(result[i].m == right.m && result[i].c == right.c && result[i].gap == 9, "count %d place %d", count, i);
      }
    }
  }
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

static void user_operation_on_predefined_type(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Op op;
  MPI_Op_create(add_longs, 1, &op);
  static long input[5000], result[5000];
  for (int count = 1; count <= 5000; count = count * 7 + 1) {
    for (int i = 0; i < count; ++i) input[i] = rank * 1000003L + i;
    MPI_Allreduce(input, result, count, MPI_LONG, op, comm);
    for (int i = 0; i < count; ++i) {
      CHECK(result[i] == (long)size * (size - 1) / 2 * 1000003L + (long)size * i, "count %d place %d", count, i);
    }
  }
  MPI_Op_free(&op);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Comm_split(MPI_COMM_WORLD, world_rank < 2, world_rank, &comms[1]);
  for (int i = 0; i < 2; ++i) {
    set_up(comms[i]);
    vector_at_root_contiguous_elsewhere(comms[i]);
#if MPI_VERSION >= 4
    types_made_with_large_counts(comms[i]);
#endif
    elements_out_of_order(comms[i]);
    absolute_addresses(comms[i]);
    repeated_dense_types(comms[i]);
    operations_that_do_not_commute(comms[i]);
    user_operation_on_predefined_type(comms[i]);
  }
  MPI_Comm_free(&comms[1]);
  return finish("derived");
}
