#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and runs the tests, all parts or those named. Every part runs even when one before it failed; the last line
# counts them all.
set -uo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

parts=() ctest_arguments=() long=0
while [ $# -gt 0 ]; do
  case "$1" in
    --long) long=1 ;;
    --rdma) parts+=(rdma) ;;
    unit | conformance | integration | tidy | model | asan | tsan | fuzz) parts+=("$1") ;;
    -R | -L | -E | -j) ctest_arguments+=("$1" "${2:?"$1 needs a value"}") && shift ;;
    -V) ctest_arguments+=("$1") ;;
    -h | --help)
      cat <<'TEXT'
./dev test [PART...] [OPTION...]   builds and runs the tests; without arguments all that a change must pass

Parts:    unit conformance integration tidy model asan tsan fuzz, rdma
          (all but rdma are the default; several may be named)
Options:  -R REGEX   tests of the release build whose name matches; -E REGEX: but for these; -L LABEL
          --long     the long tier, too: hours
          -j JOBS    at a time (default: one more than the cores; under sanitizers the cores)
          -V         what tests print, also where they pass

Names:    ctest --test-dir build/release -N               all of them, once they are built
          ./dev test -R integration.mpi.mismatch          one program, with every MPI that is installed
          ./dev test -R lab                               what needs root and network namespaces
TEXT
      exit 0
      ;;
    *) misused "test: '$1' is neither a part (unit conformance integration tidy model asan tsan fuzz)
nor an option (--long --rdma -R -L -E -j -V)" ;;
  esac
  shift
done

passed=0 failed=0 skipped=0
failures=()

fail() {
  failed=$((failed + 1))
  failures+=("$1")
  printf 'FAILED: %s\n' "$1" >&2
}

count_results() { # count_results PART JUNIT_FILE: adds up what ctest wrote
  local kind name
  while IFS=$'\t' read -r kind name; do
    case "$kind" in
      passed) passed=$((passed + 1)) ;;
      skipped) skipped=$((skipped + 1)) ;;
      failed) fail "$1: $name" ;;
    esac
  done < <(python3 tests/junit_results.py "$2")
}

run_ctest() { # run_ctest PART PRESET [CTEST ARGUMENT...]; builds targets=(...), or everything
  local part=$1 preset=$2 report=build/$2/results.xml log=build/$2/ctest.log at_a_time=$jobs
  # Jobs of MPIs, labs and whatever meets a failure wait for a third of their time and more.
  if [ "$preset" = release ] && [ "$jobs" -gt 1 ]; then at_a_time=$((jobs + 1)); fi
  shift 2
  say "$part"
  if ! (build "$preset" "${targets[@]}") >"build/$preset.log" 2>&1; then
    grep -vE "^\[[0-9]+/[0-9]+\] " "build/$preset.log" >&2
    fail "$part: the build of preset $preset"
    return
  fi
  rm -f "$report"
  ctest --test-dir "build/$preset" -j "$at_a_time" --output-on-failure --no-tests=error --output-junit results.xml \
    "$@" "${ctest_arguments[@]}" >"$log" 2>&1
  local status=$?
  if [ ! -s "$report" ] || [ $status -gt 8 ]; then
    cat "$log" >&2
    fail "$part: ctest itself (status $status)"
    return
  fi
  if [ $status -ne 0 ]; then cat "$log" >&2; else tail -n 3 "$log"; fi
  count_results "$part" "$report"
}

run_fuzz() {
  say "fuzz: 6 seconds a target"
  if bash scripts/fuzz.sh 6; then
    passed=$((passed + 1))
  else
    fail "fuzz"
  fi
}

run_rdma() { # only where it is asked for by name: it downloads a kernel
  say "rdma: multicast over verbs"
  if bash scripts/rdma.sh; then
    passed=$((passed + 1))
  else
    fail "rdma"
  fi
}

wanted() { # is this part asked for?
  [ ${#parts[@]} -eq 0 ] || [[ " ${parts[*]} " == *" $1 "* ]]
}

main() {
  local tier=(-LE '^(long|twin)$') labels=() label part targets=()
  mkdir -p build
  if [ $long -eq 1 ]; then
    tier=()
    export LONG_TESTS=1
  elif [[ " ${ctest_arguments[*]} " == *" -R "* ]]; then
    tier=(-LE '^long$')
  fi
  if [ ${#parts[@]} -eq 0 ] && [ ${#ctest_arguments[@]} -eq 0 ]; then
    run_ctest "release build" release "${tier[@]}"
  elif [ ${#parts[@]} -eq 0 ]; then
    run_ctest "release build" release "${tier[@]}"
    parts=(none)
  else
    for part in unit conformance integration tidy model; do
      if wanted "$part"; then labels+=("$part"); fi
    done
    if [ ${#labels[@]} -gt 0 ]; then
      label=$(IFS='|' && echo "${labels[*]}")
      run_ctest "release build: ${labels[*]}" release "${tier[@]}" -L "^($label)\$"
      if wanted tidy; then python3 -B tests/tidy/tidy.py --counts .; fi
    fi
  fi
  # A choice of the caller's may be of any test. Else the short tier leaves out what shows least for its time: of the
  # tools, which take a third of all to build, the tests are of tables and words; compositions over nodes are made of
  # what is tried by itself; schedules of many ranks touch memory as those of few do.
  local is_short=1 without='^$'
  if [ $long -eq 1 ] || [ ${#ctest_arguments[@]} -gt 0 ]; then is_short=0; fi
  if wanted asan; then
    targets=(all)
    if [ $is_short -eq 1 ]; then
      without='^(tools|lab)([._]|$)|^algorithms\..*(HoldsForRandom|HoldsForLarger|HoldsWithEachPart|Timing)'
      without+='|^selection\.(ShippedTable|CostModel|Predict)' # arithmetic
      without+='|^conformance\.compositions_on_uneven_nodes'
    else
      targets+=(tools_tests lab_tests)
    fi
    run_ctest "address and undefined-behaviour sanitizers" asan "${tier[@]}" -E "$without"
  fi
  # What is single-threaded has nothing to show a thread sanitizer.
  if wanted tsan; then
    targets=(base_tests platform_tests protocol_tests communicator_tests conformance_tests groups_tests stress_tests)
    if [ ${#ctest_arguments[@]} -gt 0 ]; then targets=(all); fi
    without='^$'
    if [ $is_short -eq 1 ]; then
      without='^conformance\.(compositions|half_on|on_nodes|multicast_between_nodes|Registered/LargeExchanges)'
    fi
    run_ctest "thread sanitizer" tsan "${tier[@]}" \
      -R '^(base|platform|conformance|groups)\.|ByProcessors|ProcessorsShare|^stress\..*OfThreads|TakingOver' \
      -E "$without"
  fi
  if wanted fuzz; then run_fuzz; fi
  if [[ " ${parts[*]} " == *" rdma "* ]]; then run_rdma; fi

  if [ ${#failures[@]} -gt 0 ]; then
    printf '\nFailed:\n'
    printf '  %s\n' "${failures[@]}"
  fi
  printf '\ntook %d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

main
