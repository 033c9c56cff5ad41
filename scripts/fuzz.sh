#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every fuzz target for so many seconds, from the seeds in tests/fuzz/corpus/<target>/ and what earlier runs found.
# A target that crashes leaves its input in build/fuzz/crashes/ and the command that replays it on the screen.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

seconds=${1:-60}
[[ $seconds =~ ^[0-9]+$ ]] || misused "fuzz: '$seconds' is no number of seconds"
need clang++-19
mkdir -p build
(build asan fuzz_targets) >build/fuzz.log 2>&1 || {
  cat build/fuzz.log >&2
  die "the fuzz build failed"
}
mkdir -p build/fuzz/crashes

run_target() { # run_target PROGRAM: says what came of it
  local target=$1 name corpora log
  name=$(basename "$target")
  name=${name#fuzz_}
  corpora=("build/fuzz/corpus/$name")
  mkdir -p "${corpora[0]}"
  if [ -d "tests/fuzz/corpus/$name" ]; then corpora+=("tests/fuzz/corpus/$name"); fi
  log=build/fuzz/$name.log
  # Allocations beyond a sane input's are a finding too.
  if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/crashes/"$name"- "${corpora[@]}" >"$log" 2>&1; then
    printf '%-24s %s inputs, no finding\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  else
    tail -n 40 "$log" >&2
    printf '%-24s CRASHED; replay: %s build/fuzz/crashes/%s-...\n' "$name" "$target" "$name" >&2
    return 1
  fi
}

# As many at a time as there are jobs.
targets=() count=0 failed=0
for target in build/asan/bin/fuzz_*; do
  if [ -x "$target" ]; then targets+=("$target"); fi
done
[ ${#targets[@]} -gt 0 ] || die "there is no fuzz target: tests/fuzz/*.cc"
for target in "${targets[@]}"; do
  run_target "$target" &
  count=$((count + 1))
  if [ $count -gt "$jobs" ]; then wait -n || failed=$((failed + 1)); fi
done
for ((i = 0; i < jobs && i < count; ++i)); do wait -n || failed=$((failed + 1)); done
[ $failed -eq 0 ] || die "fuzz: $failed of $count targets failed"
