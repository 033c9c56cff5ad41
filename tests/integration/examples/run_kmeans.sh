#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the k-means example by hocket run on several numbers of ranks. It checks what it has found; here its results
# must be the same on all of them, the labels of the points included.
#   run_kmeans.sh HOCKET KMEANS WORK
set -euo pipefail
hocket=$1 kmeans=$2 work=$3
mkdir -p "$work"
folder=$(mktemp -d "$work/kmeans.XXXXXX")
trap 'rm -rf "$folder"' EXIT

failed() {
  echo "run_kmeans.sh: $*"
  exit 1
}

# Runs on so many ranks; its result line without what may differ goes to RESULT, its labels to LABELS.
cluster() { # cluster RANKS RESULT LABELS ARGUMENT...
  local ranks=$1 result=$2 labels=$3 launch=()
  shift 3
  if [ "$ranks" -gt 0 ]; then launch=("$hocket" run -n "$ranks"); fi
  "${launch[@]}" "$kmeans" --output "$labels" "$@" >"$folder/output" || failed "failed on $ranks ranks: $*"
  cat "$folder/output"
  sed -nE 's/^ranks [0-9]+ (.*) seconds [0-9.]+$/\1/p' "$folder/output" >"$result"
  [ -s "$result" ] || failed "printed no result on $ranks ranks: $*"
}

# 0: started by hand. The file has titles, and fewer points than some runs have ranks for.
printf 'x,y\n0,0\n0.5,0\n0,0.5\n9,9\n9.5,9\n9,9.5\n-7,8\n' >"$folder/points.csv"
for arguments in '--points 5000 --seed 7' "--file $folder/points.csv --clusters 3"; do
  read -ra words <<<"$arguments"
  cluster 0 "$folder/result" "$folder/labels" "${words[@]}"
  for ranks in 1 3 4 8; do
    cluster "$ranks" "$folder/other_result" "$folder/other_labels" "${words[@]}"
    cmp "$folder/result" "$folder/other_result" || failed "$ranks ranks end otherwise than one"
    cmp "$folder/labels" "$folder/other_labels" || failed "$ranks ranks label otherwise than one"
  done
done
[ "$(paste -sd' ' "$folder/labels" | tr 1-3 abc | sed -E 's/(.) \1 \1 (.) \2 \2 (.)/ok/')" = ok ] ||
  failed "the file's three groups were not found: $(paste -sd' ' "$folder/labels")"

# A mistake of the user's is told once, and is the exit status of the whole.
status=0
"$hocket" run -n 3 "$kmeans" --clusters none >"$folder/output" 2>&1 || status=$?
cat "$folder/output"
[ "$status" -eq 2 ] || failed "exit status $status for a wrong option, 2 was expected"
[ "$(grep -c "can't understand --clusters none" "$folder/output")" -eq 1 ] || failed "the mistake was not told once"
