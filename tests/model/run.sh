#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks the models exhaustively with spin, and checks that the checker finds the fault in each broken variant.
# Usage: run.sh [folder for generated files]. Exit status 77: spin isn't installed.
set -eu

command -v spin >/dev/null || { echo "spin is not installed (Debian: apt install spin)"; exit 77; }
models=$(cd "$(dirname "$0")" && pwd)
compiler=${CC:-cc}
work=${1:-}
if [ -z "$work" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

# check MODEL EXPECTATION [-DNAME=VALUE ...]: EXPECTATION is holds or fails.
check() {
  model=$1
  expectation=$2
  shift 2
  name="$model $*"
  folder="$work/$(echo "$name" | tr -c 'a-zA-Z0-9\n' '_')"
  rm -rf "$folder"
  mkdir -p "$folder"
  cd "$folder"
  spin -a "$@" "$models/$model.pml" >spin.log || { cat spin.log; exit 1; }
  # SAFETY: assertions and invalid end states. An incomplete search must not pass for a proof: see below.
  # A fault is found sooner than an optimizer is done.
  if [ "$expectation" = holds ]; then optimize=-O1; else optimize=-O0; fi
  "$compiler" $optimize -w -DSAFETY -DMEMLIM=4096 -o pan pan.c
  ./pan -m200000 >pan.log 2>&1 || true
  errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
  if [ "$expectation" = holds ] &&
    grep -qE 'Search not completed|max search depth too small|memory exceeded|out of memory' pan.log; then
    cat pan.log; echo "FAILED: $name: the search was not completed"; exit 1
  fi
  case $expectation:$errors in
    holds:0)
      # "unreached" lists statements: an assertion among them was never checked.
      if grep -E 'assert' pan.log | grep -q 'state'; then
        cat pan.log; echo "FAILED: $name: an assertion is never reached"; exit 1
      fi
      echo "ok      $name: no error in $states states" ;;
    fails:[1-9]*)
      fault=$(sed -n 's/^pan:[0-9]*: \(.*\) (at depth.*/\1/p' pan.log | head -n 1)
      echo "ok      $name: the fault is found ($fault)" ;;
    *)
      cat pan.log; echo "FAILED: $name: expected that it $expectation, errors: ${errors:-none reported}"; exit 1 ;;
  esac
}

for asymmetric in 0 1; do
  check parking holds "-DASYMMETRIC=$asymmetric" -DWAKERS=1 -DROUNDS=3
  check parking holds "-DASYMMETRIC=$asymmetric" -DWAKERS=2 -DROUNDS=3
  check parking holds "-DASYMMETRIC=$asymmetric" -DWAKERS=3 -DROUNDS=1
  check parking fails "-DASYMMETRIC=$asymmetric" -DBROKEN=1
  check parking fails "-DASYMMETRIC=$asymmetric" -DBROKEN=2
done

for depth in 1 2 3; do
  check mailbox holds "-DDEPTH=$depth"
done
for broken in 1 2 3; do
  check mailbox fails "-DBROKEN=$broken"
done

check slots holds -DRANKS=2 -DSETS=2 -DCALLS=6
check slots holds -DRANKS=3 -DSETS=2 -DCALLS=4
check slots holds -DRANKS=3 -DSETS=1 -DCALLS=3
for broken in 1 2 3 4; do
  check slots fails "-DBROKEN=$broken"
done

check notices holds -DRANKS=2 -DSET_UPS=4
check notices holds -DRANKS=3 -DSET_UPS=2
check notices holds -DRANKS=2 -DSET_UPS=4 -DERRORS=2
check notices fails -DBROKEN=1
check notices fails -DBROKEN=2 -DERRORS=1

check promise holds
for broken in 1 2; do
  check promise fails "-DBROKEN=$broken"
done

check takeover holds -DRANKS=2 -DCALLS=4
check takeover holds -DRANKS=3 -DCALLS=2
for broken in 1 2 3 4; do
  check takeover fails -DRANKS=3 -DCALLS=2 "-DBROKEN=$broken"
done
check takeover fails -DRANKS=2 -DCALLS=4 -DBROKEN=5
