#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: debian_test.sh FOLDER      as root; FOLDER has the .deb files of one build
# Installs the packages, runs their tests (debian/tests) with Debian's MPIs, purges them, and looks for what is left.
# All of this happens in an overlay over this machine's files, in memory and in namespaces of its own: it is gone with
# the last process, however that ends, and the machine keeps its own files, labs and NIC engines. The compilers and MPIs
# that debian/tests use are the machine's: those that it lacks are installed there first.
set -euo pipefail
debs=$(realpath "${1:?"usage: debian_test.sh FOLDER_OF_DEBS"}")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ "${2:-}" != --inside ]; then
  if [ "$(id -u)" -ne 0 ]; then
    echo "debian_test.sh: mounting an overlay and installing need root" >&2
    exit 1
  fi
  cd "$source"
  # shellcheck source=scripts/common.sh
  source scripts/common.sh
  install_packages cmake g++ make pkg-config mpich libmpich-dev openmpi-bin libopenmpi-dev iproute2
  exec unshare --mount --net --pid --fork --kill-child --mount-proc \
    bash "$source/packaging/debian_test.sh" "$debs" --inside
fi

ip link set lo up
layers=$debs/overlay
mkdir -p "$layers"
mount -t tmpfs hocket-packages "$layers"
mkdir "$layers/changed" "$layers/work" "$layers/root"
mount -t overlay hocket-packages -o "lowerdir=/,upperdir=$layers/changed,workdir=$layers/work" "$layers/root" || {
  echo "debian_test.sh: this kernel, or the container, mounts no overlay over /" >&2
  exit 1
}
for folder in dev sys; do mount --rbind "/$folder" "$layers/root/$folder"; done
mount -t proc proc "$layers/root/proc"
mount -t tmpfs hocket-packages "$layers/root/run" # not the machine's labs
# An overlay shows what is mounted below / as empty folders.
for folder in "$source" "$debs"; do # the second may lie in the first
  mkdir -p "$layers/root/given$folder"
  mount --bind "$folder" "$layers/root/given$folder"
done
inside() { chroot "$layers/root" /usr/bin/env -C "/given$source" "$@"; }

echo "-- install"
mapfile -t files < <(find "$debs" -maxdepth 1 -type f -name '*.deb' ! -name '*-dbgsym_*' -printf "/given$debs/%f\n")
mapfile -t packages < <(for file in "${files[@]}"; do dpkg-deb -f "${file#/given}" Package; done)
inside dpkg --install "${files[@]}" >/dev/null
for package in "${packages[@]}"; do inside dpkg --verify "$package"; done
for test in programs mpi; do
  echo "-- debian/tests/$test"
  inside "debian/tests/$test" || {
    echo "debian/tests/$test failed" >&2
    exit 1
  }
done

echo "-- without hocket-mpi the command says what is missing"
inside dpkg --purge hocket-mpi >/dev/null
if said=$(inside hocket exec -- mpirun.mpich -n 1 true 2>&1); then
  echo "hocket exec ran without its libraries: $said" >&2
  exit 1
fi
[[ $said == *"/usr/lib/"*"/hocket/libhocket-mpi-mpich.so"* ]] || {
  echo "hocket exec doesn't say where it looked: $said" >&2
  exit 1
}

echo "-- purge, which ends labs"
inside hocket lab up 2 >/dev/null
inside dpkg --purge "${packages[@]}" >/dev/null 2>&1
left=$(find "$layers/root/run/hocket/lab" -mindepth 1 2>/dev/null || true)
[ -z "$left" ] || {
  printf 'the purge left a lab:\n%s\n' "$left" >&2
  exit 1
}
umount -R "$layers/root"
# dpkg's own notes, and the loader's list of libraries. A folder counts as left if the machine doesn't have it.
left=$(cd "$layers/changed" && find . \( -path ./given -o -path ./var/lib/dpkg -o -path ./var/log/dpkg.log \
  -o -path ./etc/ld.so.cache -o -path ./var/cache/ldconfig -o -path ./var/cache/man \) -prune -o -print |
  while read -r path; do
    if [ ! -d "$path" ] || [ ! -d "/$path" ]; then echo "${path#.}"; fi
  done)
[ -z "$left" ] || {
  printf 'left after the purge:\n%s\n' "$left" >&2
  exit 1
}
echo "installed, used, purged: nothing is left"
