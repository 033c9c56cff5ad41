#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test program in a network of its own whose loopback interface multicasts, and sees that something came so: a
# chain of messages would make up for all of it. Exit code 77: this kernel makes no such network.
set -eu
if [ "${1:-}" = inside ]; then
  shift
  ip link set lo up multicast on
  exec "$@"
fi
options=--net
[ "$(id -u)" = 0 ] || options="--net --map-root-user"
# shellcheck disable=SC2086  # several words
if ! unshare $options true; then
  echo "in_multicasting_network.sh: no network namespace can be made here: skipped" >&2
  exit 77
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# shellcheck disable=SC2086
HOCKET_LOG=info unshare $options sh "$0" inside "$@" 2>"$log" || status=$?
grep -v '^hocket\[[0-9]*\]: rank .*: multicast\|^hocket\[[0-9]*\]: a communicator of' "$log" >&2 || true
if ! grep -q ': multicast .* [1-9][0-9]* taken' "$log"; then
  echo "in_multicasting_network.sh: nothing came by multicast" >&2
  exit 1
fi
exit $status
