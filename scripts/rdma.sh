#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Multicast over verbs, tried for real on a machine without any RDMA device: Debian's kernel, which has one made by
# software (soft-RoCE), boots in an emulated machine with this one's files, read-only, and runs tests/rdma/guest.sh.
# Everything it makes is in build/rdma. Tried twice before it counts as failed: an emulated machine may be starved.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

directory=build/rdma limit_s=240 qemu=
# What each run must show at least, so that a check that is never reached is missed.
least_passed=22
modules=(virtio_pci 9pnet_virtio 9p crc32_generic rdma_rxe rdma_ucm veth bridge sch_netem)

fetch_kernel() { # into $directory/linux
  local package deb
  # A kernel for clouds has no soft-RoCE.
  package=$(apt-cache depends linux-image-amd64 2>/dev/null |
    sed -n '0,/Depends:/s/^ *Depends: \(linux-image-[^ ]*\)$/\1/p') || true
  if [ -z "$package" ]; then
    die "apt knows no kernel package linux-image-amd64 (apt-get update? Only Debian's own has what this needs)"
  fi
  deb=$(find "$directory" -maxdepth 1 -name "${package}_*.deb" | head -n 1)
  if [ -z "$deb" ]; then
    say "downloading $package (70 MB, kept in $directory)"
    rm -f "$directory"/linux-image-*.deb
    (cd "$directory" && apt-get download -qq -o APT::Sandbox::User=root "$package") ||
      die "can't download $package: is apt's list of packages old (apt-get update), or the network away?"
    deb=$(find "$directory" -maxdepth 1 -name "${package}_*.deb" | head -n 1)
  fi
  if [ "$(cat "$directory/unpacked" 2>/dev/null)" != "$deb" ]; then
    rm -rf "$directory/linux" "$directory/unpacked"
    dpkg-deb -x "$deb" "$directory/linux"
    echo "$deb" >"$directory/unpacked"
  fi
}

end_machine() {
  if [ -n "$qemu" ]; then kill "$qemu" 2>/dev/null && wait "$qemu" 2>/dev/null; fi
  qemu=
}

# Emulated by software on purpose: where this machine is a virtual one itself, /dev/kvm may open and guests hang.
run_machine() { # run_machine LOG: gives whether its last word is that all has passed
  local log=$1 root share folder console
  root=$(pwd -P)
  share=local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap
  folder=local,path=$root,mount_tag=folder,security_model=none,readonly=on,multidevs=remap
  console="console=ttyS0 quiet panic=-1 -- $root $root/tests/rdma/guest.sh $root/build/release"
  console+=" $root/.venv/mpich/bin/mpiexec $root/$directory/broadcasts"
  setpriv --pdeathsig TERM timeout -k 5 "$limit_s" qemu-system-x86_64 -accel tcg,thread=multi -M pc -cpu max \
    -smp 2 -m 1024 -no-reboot -nodefaults -display none -serial stdio -virtfs "$share" -virtfs "$folder" \
    -kernel "$directory/vmlinux" -initrd "$directory/initramfs" -append "$console" </dev/null >"$log.raw" 2>&1 &
  qemu=$!
  wait "$qemu" || true
  qemu=
  tr -d '\r' <"$log.raw" >"$log"
  rm "$log.raw"
  grep -qx 'rdma: all passed' "$log" && ! grep -q '^FAIL' "$log" && [ "$(grep -c '^PASS' "$log")" -ge $least_passed ]
}

main() {
  local attempt root
  root=$(pwd -P)
  if [ "$(uname -m)" != x86_64 ]; then die "rdma: the emulated machine is an x86-64 one, this is $(uname -m)"; fi
  # The kernel's command line has words.
  case "$root" in
    *' '* | *,*) die "rdma: not from $root: without spaces and commas in its path, please" ;;
  esac
  install_packages qemu-system-x86 libibverbs-dev librdmacm-dev ibverbs-providers
  need qemu-system-x86_64 apt-cache dpkg-deb python3 setpriv timeout .venv/mpich/bin/mpicc
  mkdir -p $directory
  build release hocket hocket_mpi_mpich multicast_port rdma_init >$directory/build.log 2>&1 ||
    {
      cat $directory/build.log >&2
      die "rdma: the build failed"
    }
  if [ ! -e build/release/lib/libhocket-multicast-verbs.so ]; then
    die "rdma: libhocket-multicast-verbs.so was not built: does CMake find libibverbs and librdmacm?"
  fi
  .venv/mpich/bin/mpicc -std=gnu11 -O1 tests/integration/lab/broadcasts.c -o $directory/broadcasts
  fetch_kernel
  python3 -B tests/rdma/boot_files.py $directory/linux build/release/bin/rdma_init $directory "${modules[@]}"
  trap end_machine EXIT
  trap 'exit 130' INT TERM
  for attempt in 1 2; do
    say "soft-RoCE in an emulated machine, attempt $attempt (a minute or two; the log is $directory/guest.log)"
    if run_machine $directory/guest.log; then
      grep -E '^(PASS|FAIL|--|rdma:)' $directory/guest.log
      return
    fi
    cat $directory/guest.log >&2
  done
  die "rdma: failed twice"
}

main
