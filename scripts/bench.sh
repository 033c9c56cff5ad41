#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs `hocket bench` under each MPI of the Python environments, at that MPI's best settings, and leaves one JSON file
# a run in build/bench/. The tables of docs/ come from here.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

usage() {
  cat <<'TEXT'
usage: ./dev bench [--ranks "2 4 8 16"] [--mpi "mpich openmpi"] [--collectives LIST] [--dry-run] [-- OPTIONS]
defaults: ranks 2 4 8 16; both MPIs; barrier,broadcast,reduce,allreduce. OPTIONS go to `hocket bench`.
TEXT
}

ranks_list="2 4 8 16" mpis="mpich openmpi" collectives=barrier,broadcast,reduce,allreduce dry=0
options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --ranks) ranks_list=${2:?} && shift ;;
    --mpi) mpis=${2:?} && shift ;;
    --collectives) collectives=${2:?} && shift ;;
    --dry-run) dry=1 ;;
    --) shift && options=("$@") && break ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

hocket=build/release/bin/hocket
[ $dry -eq 1 ] || build release
mkdir -p build/bench
cores=$(nproc)
# Open MPI refuses root unless told twice; containers are root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

for mpi in $mpis; do
  for ranks in $ranks_list; do
    command=(env)
    # Without these an MPI on too few cores is many times slower, and a comparison would mean nothing.
    if [ "$ranks" -gt "$cores" ] && [ "$mpi" = mpich ]; then
      command+=(MPIR_CVAR_CH4_PROGRESS_THROTTLE=1 MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT=1)
    fi
    command+=(".venv/$mpi/bin/mpiexec" -n "$ranks")
    if [ "$ranks" -gt "$cores" ] && [ "$mpi" = openmpi ]; then
      command+=(--mca mpi_yield_when_idle 1 --bind-to none --oversubscribe)
    fi
    command+=("$hocket" bench "$collectives" --json "build/bench/$mpi-$ranks.json" "${options[@]}")
    say "${command[*]}"
    [ $dry -eq 1 ] || "${command[@]}"
  done
done
