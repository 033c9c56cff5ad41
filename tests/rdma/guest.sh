#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs in the virtual machine, as root of a system that holds nothing else: makes four RDMA devices by software, one on
# each of four interfaces of a switch, and tries multicast between them. Prints PASS or FAIL for each thing tried, and
# at the end "rdma: all passed" or what has failed.
#   guest.sh BUILD_DIRECTORY
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

lose() { # lose PERCENT: on the way to each of the receivers
  local i
  for i in 1 2 3; do
    ip netns exec switch tc qdisc replace dev "p$i" root netem loss "$1%" || failed+=("netem")
  done
}

check() { # check NAME COMMAND...: each at most a minute
  printf '\n-- %s\n' "$1"
  timeout 60 "${@:2}" || failed+=("$1")
}

main() {
  local build=$1 port=$1/bin/multicast_port
  make_network || return
  check "nothing lost" "$port" loss "$build/lib" 95 100 h0 h1 h2 h3
  check "sleepers" "$port" turns "$build/lib" h0 h1 h2 h3
  check "no room" "$port" full "$build/lib" h0 h1 h2 h3
  check "again and again" "$port" again "$build/lib" h2
  check "no device" "$port" refused "$build/lib" lo
  lose 25
  check "a quarter lost" "$port" loss "$build/lib" 60 90 h0 h1 h2 h3
  lose 0
  if [ ${#failed[@]} -eq 0 ]; then echo "rdma: all passed"; else echo "rdma: failed: ${failed[*]}"; fi
}

main "$@"
