#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: empty_root.sh WHEEL_FOLDER OTHERS PYTHON MPI
# Runs inside.sh as nobody (lab: as root) in a root of its own. That holds this system's /usr and /etc, the folder of
# hocket's wheel, that of other wheels (download.sh), PYTHON if it lies elsewhere, and nothing else: no checkout, no
# other home, no network. MPI: what inside.sh says. The root is in memory and in a mount namespace, so that nothing is
# left of it, however this ends.
set -euo pipefail
wheel_folder=$1 others=$2 python=$3 mpi=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=/mnt # of the namespace: a folder that every system has
home=$("$python" -c 'import sys; print(sys.base_prefix)')

if [ "${5:-}" != in-namespace ]; then
  bash "$here/download.sh" "$here/../../.." "$others" "$python" "$mpi" --is-there
  if [ "$(id -u)" -ne 0 ]; then
    echo "skipped: making a root of its own takes root"
    exit 77
  fi
  if ! unshare --mount --pid --net --fork true; then
    echo "skipped: namespaces are refused here"
    exit 77
  fi
  # The process namespace takes all along that is still running at the end.
  exec unshare --mount --pid --net --fork --kill-child --mount-proc --propagation private \
    bash "${BASH_SOURCE[0]}" "$@" in-namespace
fi

show() { # show PATH [AT]: a folder or a device, read-only
  local at=$root${2:-$1}
  if [ -d "$1" ]; then mkdir -p "$at"; else mkdir -p "$(dirname "$at")" && touch "$at"; fi
  mount --no-canonicalize --rbind "$1" "$at"
  if [ -d "$1" ]; then mount -o remount,bind,ro "$at"; fi
}

# What is shown later may lie below the folder that is hidden now: it is opened before.
exec {wheel_at}<"$wheel_folder" {others_at}<"$others" {home_at}<"$home" {here_at}<"$here"
opened=/proc/$$/fd
mount -t tmpfs -o mode=755 tmpfs "$root"
for folder in /usr /etc /sys; do show "$folder"; done
for link in bin sbin lib lib32 lib64; do
  if [ -L "/$link" ]; then cp -P "/$link" "$root/$link"; elif [ -d "/$link" ]; then show "/$link"; fi
done
for device in null zero full random urandom; do show "/dev/$device"; done
mkdir -p "$root"/{proc,tmp,dev/shm,user,old,checks}
ln -s /proc/self/fd "$root/dev/fd"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
chmod 1777 "$root/tmp"
chown nobody:nogroup "$root/user"
show "$opened/$wheel_at" /dist
show "$opened/$others_at" /wheels
if [ "$home" != /usr ]; then show "$opened/$home_at" "$home"; fi
tests=$opened/$here_at
cp "$tests"/{inside.sh,sum.c,sum.py,../install/consumer.cmake,../../../examples/quickstart.c} "$root/checks/"
exec {wheel_at}<&- {others_at}<&- {home_at}<&- {here_at}<&-
ip link set lo up
ip link add port0 type veth peer name port1 || { echo "skipped: the kernel makes no pairs of interfaces"; exit 77; }
ip address add 192.0.2.1/24 dev port0
ip link set port0 up
ip link set port1 up

cd "$root"
pivot_root . old
umount -l /old
cd /user
user=(setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs)
if [ "$mpi" = lab ]; then user=(); fi
# Not exec: the first process of the namespace stays root's, and so ends with unshare.
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/user LC_ALL=C.UTF-8 \
  "${user[@]}" bash /checks/inside.sh "$home/bin/python3" "$mpi"
