#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The recipes, the Containerfile and the action, as far as tools from registries of packages can judge them (README.md
# says what they can't).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
if [ ! -L .venv ]; then python_environment packaging; fi # else another checkout's, as it is
environment=.venv/packaging
need "$environment/bin/python"

echo "-- the action: the schema of actions"
"$environment/bin/check-jsonschema" --builtin-schema vendor.github-actions packaging/action/action.yml
echo "-- the Containerfile: hadolint"
"$environment/bin/hadolint" --failure-threshold info packaging/container/Containerfile
echo "-- the recipe for Spack: names and style, but for those that spack.package brings"
"$environment/bin/flake8" --max-line-length 120 --extend-ignore F403,F405 packaging/spack/package.py
echo "-- the recipe for conda: rendered for each MPI"
"$environment/bin/python" -B packaging/conda/render.py
