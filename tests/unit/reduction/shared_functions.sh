#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if the kernels of an instruction set define a function outside of their own namespace: the linker could choose
# it for the whole program, which then ends with an illegal instruction on a lesser CPU.
#   shared_functions.sh NM LIBRARY
set -euo pipefail
symbols=$("$1" -C -A --defined-only "$2")
# Functions and objects visible to other files: T, W, V, u, D, B, R. Sanitizers' own names have no namespace of ours.
foreign=$(grep -E 'kernels_avx[0-9]+\.cc\.o:' <<<"$symbols" | grep -E ' [TWVuDBR] ' |
  grep -vE 'hocket::reduction::avx(2|512)::|__odr_asan|___asan|__llvm|DW\.ref' || true)
kernels=$(grep -c 'hocket::reduction::.*::combine<' <<<"$symbols" || true)
if ((kernels == 0)); then
  echo "no kernels found in $2"
  exit 1
fi
if [[ -n $foreign ]]; then
  printf 'defined by kernels and visible to all:\n%s\n' "$foreign"
  exit 1
fi
