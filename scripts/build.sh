#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Configures and builds one preset.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

if [ $# -gt 1 ]; then misused "build takes one preset, not '$*'"; fi
preset=${1:-release}
case "$preset" in
  release | dev | asan | tsan) ;;
  *) misused "there is no preset '$preset': release, dev, asan, tsan" ;;
esac
# The command is left out of "all" where a sanitizer has nothing to do with it.
build "$preset" all hocket_command
printf '\nbuilt: build/%s/bin  build/%s/lib\n' "$preset" "$preset"
