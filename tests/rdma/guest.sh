#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
echo hello; uname -r; id
set -x
ip link set lo up
ip netns add switch
ip -n switch link add bridge type bridge mcast_snooping 0
ip -n switch link set bridge up
echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore
echo 1 > /proc/sys/net/ipv4/conf/all/accept_local
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
for i in 0 1 2 3; do
  ip link add h$i type veth peer name p$i netns switch
  ip -n switch link set p$i master bridge up
  ip address add 10.77.0.$((i+1))/24 dev h$i
  ip link set h$i up
  rdma link add rxe$i type rxe netdev h$i
done
rdma link
ls -la /dev/infiniband
