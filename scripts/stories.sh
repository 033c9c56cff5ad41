#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the pages of docs/stories/ as their readers would, and times each step (stories/stories.py says how).
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh
need python3
exec python3 -B scripts/stories/stories.py "$@"
