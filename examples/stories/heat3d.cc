// SPDX-License-Identifier: BSD-3-Clause
// Heat in a cube by implicit time steps: each solves a linear system by hypre's conjugate gradients. A slab a rank.
#include <HYPRE_struct_ls.h>
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int n = argc > 1 ? std::atoi(argv[1]) : 48;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  int lower[] = {0, 0, n * rank / ranks}, upper[] = {n - 1, n - 1, n * (rank + 1) / ranks - 1};
  const size_t cells = size_t(n) * n * (upper[2] - lower[2] + 1);

  HYPRE_Init();
  HYPRE_StructGrid grid;
  HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &grid);
  HYPRE_StructGridSetExtents(grid, lower, upper);
  HYPRE_StructGridAssemble(grid);
  // Symmetric: a cell and its three neighbours ahead.
  HYPRE_StructStencil stencil;
  HYPRE_StructStencilCreate(3, 4, &stencil);
  int offsets[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, entries[] = {0, 1, 2, 3};
  for (int i = 0; i < 4; i++) HYPRE_StructStencilSetElement(stencil, i, offsets[i]);
  HYPRE_StructMatrix matrix;
  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, grid, stencil, &matrix);
  HYPRE_StructMatrixSetSymmetric(matrix, 1);
  HYPRE_StructMatrixInitialize(matrix);
  std::vector<double> values(4 * cells);
  for (size_t i = 0; i < values.size(); i++) values[i] = i % 4 == 0 ? 1 + 6 * 5.0 : -5.0;
  HYPRE_StructMatrixSetBoxValues(matrix, lower, upper, 4, entries, values.data());
  HYPRE_StructMatrixAssemble(matrix);
  HYPRE_StructVector now, next;
  for (HYPRE_StructVector* vector : {&now, &next}) {
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, vector);
    HYPRE_StructVectorInitialize(*vector);
    HYPRE_StructVectorSetConstantValues(*vector, 1);
    HYPRE_StructVectorAssemble(*vector);
  }
  HYPRE_StructSolver solver;
  HYPRE_StructPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_StructPCGSetTol(solver, 1e-8);
  HYPRE_StructPCGSetTwoNorm(solver, 1);

  const double begin = MPI_Wtime();
  int iterations = 0;
  for (int step = 0; step < steps; step++) {
    HYPRE_StructPCGSetup(solver, matrix, now, next);
    HYPRE_StructPCGSolve(solver, matrix, now, next);
    int took = 0;
    HYPRE_StructPCGGetNumIterations(solver, &took);
    iterations += took;
    HYPRE_StructVectorGetBoxValues(next, lower, upper, values.data());
    HYPRE_StructVectorSetBoxValues(now, lower, upper, values.data());
  }
  const double seconds = MPI_Wtime() - begin;
  HYPRE_StructVectorGetBoxValues(now, lower, upper, values.data());
  double mine = 0, heat = 0;
  for (size_t i = 0; i < cells; i++) mine += values[i];
  MPI_Reduce(&mine, &heat, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d iterations\nranks %d heat %.6g seconds %.3f\n", iterations, ranks, heat, seconds);
  MPI_Finalize();
}
