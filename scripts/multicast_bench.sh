#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures broadcasts by multicast beside trees, allgathers beside rings, and MPIs' own in labs of this machine, and
# leaves a JSON file a set in build/multicast/. bench/results/multicast/broadcasts.md comes from here, by
# scripts/multicast_report.py.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

all="short processor delay50 delay500 delay5ms missed many many500 long cores reductions"
all+=" allgathers allgathers500 allgathers5ms"
usage() {
  cat <<TEXT
usage: scripts/multicast_bench.sh [--dry-run] [SET ...]      as root; all sets take hours on two cores, allgathers most
SETs, by default all:
  short       2 bytes, 2 to 32 nodes of one rank     delay50, delay500, delay5ms   the same with so much on each way
  processor   2 bytes, 16 nodes, many rounds: processor time
  many        2 bytes, 64 and 116 nodes              many500                       the same with 500 us
  missed      2 bytes, 16 nodes, 500 us, 0 to 100 % of multicasts lost
  long        1 KiB to 1 MiB, 4 and 16 nodes         cores                         4 nodes of 4 ranks
  reductions  all-reductions and barriers, 16 nodes, without delay and with 500 us
  allgathers  8 bytes to 64 KiB a block, 4 to 64 nodes
  allgathers500, allgathers5ms   the same with so much on each way
TEXT
}

dry=0
sets=()
while [ $# -gt 0 ]; do
  case "$1" in
    --dry-run) dry=1 ;;
    -h | --help) usage && exit 0 ;;
    *)
      [[ " $all " == *" $1 "* ]] || { echo "multicast_bench: there is no set '$1'" >&2 && usage >&2 && exit 2; }
      sets+=("$1")
      ;;
  esac
  shift
done
[ ${#sets[@]} -gt 0 ] || read -ra sets <<<"$all"

directory=build/multicast
mkdir -p "$directory"

# A lab for each number of nodes: a multicast goes to all nodes of a lab, also to those that have no rank.
bench() { # bench NAME COLLECTIVE NODES,... ARGUMENT...
  local name=$1 collective=$2 numbers one line
  read -ra numbers <<<"${3//,/ }"
  shift 3
  for one in "${numbers[@]}"; do
    line=(build/release/bin/hocket lab bench "$collective" --nodes "$one" "$@" --switch bridge
      --json "$directory/$name-$one.json")
    say "${line[*]}"
    [ $dry -eq 1 ] || "${line[@]}"
  done
}

trees=hocket:mpich:tree_mm:degree=2,hocket:mpich:tree_mm:degree=4,hocket:mpich:tree_mm:degree=8
under_openmpi=multicast:openmpi,hocket:openmpi:tree_mm:degree=8
short=multicast,$trees,mpi:mpich,$under_openmpi,mpi:openmpi,mpi:intel
few=multicast,hocket:mpich:tree_mm:degree=4,hocket:mpich:tree_mm:degree=8,mpi:mpich,$under_openmpi,mpi:openmpi
long=multicast,hocket:mpich:tree_mm:degree=2,hocket:mpich:tree_mm:degree=8,hocket:mpich:tree_mm:segment=32K,mpi:mpich
long+=,multicast:openmpi,hocket:openmpi:tree_mm:segment=32K,mpi:openmpi
cores=multicast,hocket:mpich:leader:across=tree_mm,hocket:mpich:node_tree:degree=4,mpi:mpich
cores+=,multicast:openmpi,hocket:openmpi:leader:across=tree_mm,mpi:openmpi
nodes=2,4,8,16,32
gathered=hocket:mpich:multicast,hocket:mpich:multicast:chains=1,hocket:mpich:ring,hocket:mpich:bruck,mpi:mpich
gathered+=,hocket:openmpi:multicast,hocket:openmpi:ring,hocket:openmpi:bruck,mpi:openmpi,mpi:intel
up_and_down=hocket:mpich:multicast,hocket:mpich:multicast:degree=4

for set in "${sets[@]}"; do
  case "$set" in
    short) bench short bcast $nodes --bytes 2 --variants "$short" --rounds 300 --slices 3 ;;
    processor) bench processor bcast 16 --bytes 2 --variants "${short%,mpi:intel}" --rounds 2500 --slices 5 ;;
    # Longer than a packet is on its way, so that nothing of a broadcast meets the next.
    delay50) bench delay50 bcast $nodes --bytes 2 --variants "$short" --rounds 180 --slices 3 \
      --settle-us 1500 --impair delay=50us ;;
    delay500) bench delay500 bcast $nodes --bytes 2 --variants "$short" --rounds 150 --slices 3 \
      --settle-us 3000 --impair delay=500us ;;
    delay5ms) bench delay5ms bcast $nodes --bytes 2 --variants "$few" --rounds 60 --slices 2 --warm-up 20 \
      --settle-us 20000 --impair delay=5ms ;;
    many) bench many bcast 64,116 --bytes 2 --variants "$few" --rounds 60 --slices 2 --warm-up 20 \
      --settle-us 3000 ;;
    many500) bench many500 bcast 64,116 --bytes 2 --variants "$few" --rounds 40 --slices 2 --warm-up 20 \
      --settle-us 4000 --impair delay=500us ;;
    missed)
      for share in 0 10 25 50 75 100; do
        bench "missed$share" bcast 16 --bytes 2 --variants multicast,multicast:openmpi --rounds 300 --slices 3 \
          --settle-us 3000 --impair "delay=500us,lost-multicasts=$share%"
      done
      ;;
    long) bench long bcast 4,16 --bytes 1K,4K,16K,64K,256K,1M --variants "$long" --rounds 60 --slices 2 \
      --warm-up 20 ;;
    cores) bench cores bcast 4 --ppn 4 --bytes 2,1K,64K,1M --variants "$cores" --rounds 120 --slices 3 \
      --settle-us 400 ;;
    reductions)
      for impair in "" "--impair delay=500us"; do
        # shellcheck disable=SC2086
        bench "allreduce${impair##*=}" allreduce 16 --rounds 180 --slices 3 --settle-us 3000 $impair \
          --variants "$up_and_down,hocket:mpich:recursive_doubling,hocket:mpich:tree_mm:degree=8,mpi:mpich"
        # shellcheck disable=SC2086
        bench "barrier${impair##*=}" barrier 16 --rounds 300 --slices 3 $impair \
          --variants "$up_and_down,hocket:mpich:dissemination,hocket:mpich:gather_broadcast:degree=8,mpi:mpich"
      done
      ;;
    allgathers) bench allgathers allgather 4,8,16,32,64 --bytes 8,1K,8K,64K --variants "$gathered" --rounds 60 \
      --slices 2 --warm-up 20 --settle-us 3000 ;;
    allgathers500) bench allgathers500 allgather 4,8,16,32,64 --bytes 8,1K,8K,64K --variants "$gathered" \
      --rounds 40 --slices 2 --warm-up 20 --settle-us 4000 --impair delay=500us ;;
    allgathers5ms) bench allgathers5ms allgather 4,16,64 --bytes 8,8K,64K --variants "$gathered" --rounds 16 \
      --slices 2 --warm-up 6 --settle-us 20000 --impair delay=5ms ;;
  esac
done
