#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: root.sh LAYERS CHECKOUT PACKAGES COMMAND...      as root
# Runs the command where none of Debian's PACKAGES is installed yet and whatever is installed is gone with the last
# process, however that ends: in an overlay over this machine's files, in memory and in namespaces of its own. LAYERS is
# a folder for it, CHECKOUT one that is seen as it is. Exit status 77: this machine mounts no such overlay.
set -euo pipefail
if [ "$1" != --inside ]; then
  exec unshare --mount --pid --fork --kill-child --mount-proc bash "${BASH_SOURCE[0]}" --inside "$@"
fi
layers=$2 checkout=$3 packages=$4
shift 4

mkdir -p "$layers"
mount -t tmpfs hocket-story "$layers"
root=$layers/root
mkdir "$layers/changed" "$layers/work" "$root"
mount -t overlay hocket-story -o "lowerdir=/,upperdir=$layers/changed,workdir=$layers/work" "$root" || {
  echo "stories: skipped: this kernel, or the container, mounts no overlay over /" >&2
  exit 77
}
for folder in dev sys; do mount --rbind "/$folder" "$root/$folder"; done
mount -t proc proc "$root/proc"
# What is mounted below / is not in the overlay; containers mount these two.
for file in /etc/resolv.conf /etc/hosts; do cat "$file" >"$layers/file" && cat "$layers/file" >"$root$file"; done
mkdir -p "$root$checkout"
mount --bind "$checkout" "$root$checkout"

read -ra words <<<"$packages"
if [ ${#words[@]} -gt 0 ]; then
  mapfile -t installed < <(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "${words[@]}" 2>/dev/null |
    sed -n 's/^ii *//p')
  if [ ${#installed[@]} -gt 0 ]; then
    DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get purge -y -qq --autoremove "${installed[@]}" >/dev/null
  fi
fi
chroot "$root" env -C / "$@"
