#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages of what is checked out, changes that are not committed included, has lintian look at them,
# and with --test installs, uses and purges them. Works in build/package; what it made is then in dist/debian.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

output=dist/debian with_test=0
while [ $# -gt 0 ]; do
  case "$1" in
    --output) output=${2:?"--output needs a folder"} && shift ;;
    --test) with_test=1 ;;
    -h | --help)
      cat <<'TEXT'
./dev package [OPTION...]    Debian packages of this checkout

  --output FOLDER   where they go (default: dist/debian)
  --test            then installs them in an overlay of this machine's files, runs programs with them, and purges them:
                    as root. The machine gets the compilers and MPIs that this needs, where it lacks them, and keeps
                    its files otherwise
TEXT
      exit 0
      ;;
    *) misused "package: there is no option '$1'; there are --output FOLDER and --test" ;;
  esac
  shift
done
if [ $with_test -eq 1 ] && [ "$(id -u)" -ne 0 ]; then die "package: --test needs root"; fi
install_packages dpkg-dev debhelper chrpath lintian

work=build/package
version=$(dpkg-parsechangelog -S Version)
tree=$work/hocket-${version%-*}
rm -rf "$work"
mkdir -p "$tree" "$output"
sources() { # as a tar; a source tarball that was unpacked has no git
  if [ -e .git ]; then
    need git
    git ls-files -z --cached --others --exclude-standard | tar c --null --files-from=- --ignore-failed-read
  else
    tar c --exclude=./build --exclude=./dist --exclude=./.venv .
  fi
}
sources | tar x -C "$tree"
say "dpkg-buildpackage (the log is $work/log)"
# debhelper gives the build a home of its own and throws it away: the compiler's cache would be in it.
if command -v ccache >/dev/null; then CCACHE_DIR=$(ccache --get-config cache_dir) && export CCACHE_DIR; fi
(cd "$tree" && dpkg-buildpackage -us -uc -b -j"$jobs") >"$work/log" 2>&1 || {
  tail -n 50 "$work/log" >&2
  die "package: dpkg-buildpackage failed; $work/log has all of it"
}
say "lintian"
as_user=()
if [ "$(id -u)" -eq 0 ]; then as_user=(--allow-root); fi
lintian "${as_user[@]}" --fail-on error,warning --tag-display-limit 0 "$work"/*.changes
if [ $with_test -eq 1 ]; then
  say "installed, used, purged"
  bash packaging/debian_test.sh "$work"
fi
rm -f "$output"/hocket*.deb "$output"/libhocket*.deb "$output"/hocket_*.buildinfo "$output"/hocket_*.changes
mv "$work"/*.deb "$work"/*.buildinfo "$work"/*.changes "$output"
rm -rf "$tree"
printf '\npackaged: %s\n' "$output"
