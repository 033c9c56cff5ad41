#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs in the virtual machine, as root of a system that holds nothing else: makes four RDMA devices by software, one on
# each of four interfaces of a switch, and tries multicast between them. Prints PASS or FAIL for each thing tried, and
# at the end "rdma: all passed" or what has failed.
#   guest.sh BUILD_DIRECTORY MPIEXEC BROADCASTS
set -uo pipefail

failed=()

# Ports stay in the first namespace, where soft-RoCE sends from, so the switch must be in another: the kernel would
# hand packets from one interface to another without sending them.
make_network() {
  set -e
  ip link set lo up
  ip netns add switch
  ip -n switch link add bridge type bridge mcast_snooping 0
  ip -n switch link set bridge up
  # Each interface answers for its own address only, and takes packets whose source is a neighbour's.
  echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
  echo 1 >/proc/sys/net/ipv4/conf/all/accept_local
  echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
  local i
  for i in 0 1 2 3; do
    ip link add "h$i" type veth peer name "p$i" netns switch
    ip -n switch link set "p$i" master bridge up
    ip address add "10.77.0.$((i + 1))/24" dev "h$i"
    ip link set "h$i" up
    rdma link add "rxe$i" type rxe netdev "h$i"
  done
  set +e
}

lose() { # lose PERCENT: on the way to each interface
  local i
  for i in 0 1 2 3; do
    ip netns exec switch tc qdisc replace dev "p$i" root netem loss "$1%" || failed+=("netem")
  done
}

check() { # check NAME COMMAND...
  printf '\n-- %s\n' "$1"
  "${@:2}" || failed+=("$1")
}

# Broadcasts of an MPI program: a rank for each interface, told apart as nodes, and rank 0 says for all what carries
# multicast. Messages are of one datagram, so that the share of them that has come is what was not lost.
broadcasts() { # broadcasts BUILD_DIRECTORY MPIEXEC PROGRAM LEAST_PERCENT MOST_PERCENT
  local log=/tmp/broadcasts.log ranks=() i
  for i in 0 1 2 3; do
    ranks+=(: -n 1 -env HOCKET_NODE "n$i" -env HOCKET_MULTICAST_INTERFACE "h$i")
    if [ "$i" -eq 0 ]; then ranks+=(-env HOCKET_MULTICAST_OVER verbs); fi
    ranks+=("$3" 200 900)
  done
  # The MPI's own messages shall keep off the devices that are tried.
  env LD_PRELOAD="$1/lib/libhocket-mpi-mpich.so" FI_PROVIDER=tcp HOCKET_LOG=info HOCKET_MULTICAST=on \
    HOCKET_BROADCAST=multicast timeout 60 "$2" "${ranks[@]:1}" >"$log" 2>&1 || { cat "$log"; return 1; }
  grep '^200 broadcasts' "$log"
  awk -v least="$4" -v most="$5" '
    /over verbs: [0-9]+ messages awaited/ {
      match($0, /rank [0-9]+/)
      rank = substr($0, RSTART, RLENGTH)
      for (i = 2; i <= NF; ++i) count[$i] = $(i - 1)
      # Some may come when the chain has been faster; copies of what ranks greet each other with are late, too.
      awaited = count["messages"]
      in_time = awaited - count["missed;"]
      come = in_time + count["late,"] < awaited ? in_time + count["late,"] : awaited
      percent = 100 * come / awaited
      good = percent >= least && percent <= most && !count["refused"]
      printf "%s %s: of %d multicasts %d have come in time, %d fragments late, %d refused (wanted: %d to %d %%)\n",
             good ? "PASS" : "FAIL", rank, awaited, in_time, count["late,"], count["refused"], least, most
      ++ranks
      failed += !good
    }
    /^200 broadcasts, 0 wrong/ { right = 1 }
    END {
      print right ? "PASS broadcasts are right to the last byte" : "FAIL broadcasts are wrong"
      exit !(right && ranks == 4 && failed == 0)
    }' "$log" || { cat "$log"; return 1; }
}

main() {
  local build=$1 port=(timeout 60 "$1/bin/multicast_port") mpi=("$1" "$2" "$3")
  make_network || return
  check "nothing lost" "${port[@]}" loss "$build/lib" 95 100 h0 h1 h2 h3
  check "sleepers" "${port[@]}" turns "$build/lib" h0 h1 h2 h3
  check "no room" "${port[@]}" full "$build/lib" h0 h1 h2 h3
  check "again and again" "${port[@]}" again "$build/lib" h2
  check "no device" "${port[@]}" refused "$build/lib" lo
  check "an MPI program, nothing lost" broadcasts "${mpi[@]}" 95 100
  lose 25
  check "a quarter lost" "${port[@]}" loss "$build/lib" 60 90 h0 h1 h2 h3
  check "an MPI program, a quarter lost" broadcasts "${mpi[@]}" 55 92
  if [ ${#failed[@]} -eq 0 ]; then echo "rdma: all passed"; else echo "rdma: failed: ${failed[*]}"; fi
}

main "$@"
