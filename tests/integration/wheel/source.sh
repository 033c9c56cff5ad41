#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: source.sh CHECKOUT
# The source that ./dev wheel collects holds what a build takes and nothing else, and pip builds it by this machine's
# compiler, for this machine.
set -euo pipefail
export LC_ALL=C
checkout=$1
python=$checkout/.venv/wheel/bin/python
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
source=$(echo "$checkout"/dist/hocket-*.tar.gz)

echo "-- contents"
held=$(tar tzf "$source" | cut -d/ -f2 | sort -u | paste -sd' ')
wanted="CMakeLists.txt CMakePresets.json LICENSE LICENSES PKG-INFO README.md bpf cmake include interposer packaging"
wanted+=" protocol pyproject.toml python src tools"
[ "$held" = "$wanted" ] || { echo "it holds $held, and not $wanted" >&2; exit 1; }

echo "-- build"
pip=(-m pip --quiet --disable-pip-version-check)
"$python" "${pip[@]}" wheel --no-build-isolation --no-deps --wheel-dir "$scratch" "$source"
wheel=$(echo "$scratch"/*.whl)
case "$wheel" in */hocket-*-py3-none-linux_*.whl) ;; *) echo "it made $wheel" >&2 && exit 1 ;; esac

echo "-- use"
"$python" -m venv "$scratch/env"
"$scratch/env/bin/python" "${pip[@]}" install --no-deps "$wheel"
"$scratch/env/bin/hocket" bench barrier --ranks 2 --time-budget 0.02
echo "collected, built, used"
