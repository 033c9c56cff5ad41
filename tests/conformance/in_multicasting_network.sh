#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command in a network of its own whose loopback interface multicasts. Exit code 77: this kernel makes none.
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
# shellcheck disable=SC2086
exec unshare $options sh "$0" inside "$@"
