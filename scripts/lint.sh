#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Formatting, clang-tidy, shellcheck, spelling: each finding is an error. --fix formats in place.
set -uo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

fix=0
case "${1:-}" in
  '') ;;
  --fix) fix=1 ;;
  *) misused "lint: there is no option '$1', only --fix" ;;
esac
need clang-format-19 clang-tidy-19 shellcheck codespell git python3
failed=()

check() { # check NAME COMMAND...
  local name=$1 begin=$SECONDS
  shift
  if "$@"; then
    printf 'ok      %s (%d s)\n' "$name" $((SECONDS - begin))
  else
    printf 'FAILED  %s\n' "$name"
    failed+=("$name")
  fi
}

mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.cc' '*.h' '*.hpp' '*.c')
# What debhelper and autopkgtest run has names of their choosing: its first line tells.
mapfile -t scripts < <({
  git ls-files --cached --others --exclude-standard '*.sh' dev .ci/run '.githooks/*'
  git grep --untracked --files-with-matches '^#!/bin/sh' -- debian
} | sort -u)

mapfile -t words < <(git ls-files --cached --others --exclude-standard '*.md' '*.py' '*.cmake' '*.def')
words+=("${sources[@]}" "${scripts[@]}")

if [ $fix -eq 1 ]; then clang-format-19 -i "${sources[@]}"; fi
check "clang-format" clang-format-19 --dry-run -Werror "${sources[@]}"
check "shellcheck" shellcheck --external-sources "${scripts[@]}"
check "codespell" codespell --quiet-level=3 --ignore-words-list=improbe,inout,kown,nd,nin "${words[@]}"
mkdir -p build
configure release -B build/lint -DHOCKET_UNITY=
check "clang-tidy" python3 scripts/clang_tidy.py build/lint "$jobs"

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nlint failed: %s\n' "${failed[*]}" >&2
  exit 1
fi
printf '\nlint: clean\n'
