#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes all that belongs to a release, from a tag, in dist/VERSION, and says what to upload. It uploads nothing.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

tag='' dry_run=0
for argument in "$@"; do
  case "$argument" in
    --dry-run) dry_run=1 ;;
    -h | --help)
      cat <<'TEXT'
./dev release TAG [--dry-run]    TAG: v and the version, as in v0.1.0; what is checked out must be what it names

Makes dist/VERSION: the source tarball, wheel and sdist, Debian packages, the site, recipes for Spack and conda with the
tarball's checksum, and SHA256SUMS. Uploads nothing. --dry-run only says whether all is as it must be, and what would be
made.
TEXT
      exit 0
      ;;
    -*) misused "release: there is no option '$argument', only --dry-run" ;;
    *)
      if [ -n "$tag" ]; then misused "release: one tag, not '$tag' and '$argument'"; fi
      tag=$argument
      ;;
  esac
done
if [ -z "$tag" ]; then misused "release: which tag? One such as v0.1.0"; fi
need git python3

problems=()
problem() { problems+=("$*"); }

version=$(sed -n 's/^project(hocket VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
check_tools() { # of all parts: the last is made half an hour after the first
  local program missing=() said
  for program in cmake ninja c++ clang-19 pkg-config mpicc.mpich mpicc.openmpi; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  if [ ${#missing[@]} -gt 0 ]; then problem "missing: ${missing[*]}: run ./dev setup"; fi
  missing=()
  for program in dpkg-buildpackage dh chrpath lintian; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  # scripts/package.sh installs them, where it may.
  if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
    problem "missing: ${missing[*]}: sudo apt-get install dpkg-dev debhelper chrpath lintian"
  fi
  if ! said=$(python_with_venv 2>&1); then problem "${said#dev: }"; fi
  if [ -L .venv ]; then problem ".venv is a link, where the site's environment is to be made: remove it"; fi
}

check_placeholders() { # what a page or a package says until somebody knows it
  local found
  if grep -qw OWNER docs/get-it.md; then
    problem "docs/get-it.md has OWNER: put where the repository is in its place"
  fi
  found=$({ grep -rl 'maintainers@hocket\.example' debian || true; } | sort | paste -sd ' ')
  if [ -n "$found" ]; then
    problem "maintainers@hocket.example is no address: put one that can be written to into $found"
  fi
  found=$({ grep -rl 'to be measured' bench/results || true; } | sort | paste -sd ' ')
  if [ -n "$found" ]; then problem "'to be measured' is not yet a number: measure for $found"; fi
}

check() { # everything, so that one run tells all that is wrong
  local commit dated changed said part
  changed=$(git status --porcelain)
  if [ -n "$changed" ]; then
    problem "there are changes that are not committed: $(head -n 3 <<<"$changed" | paste -sd, -)"
  fi
  if [ "$tag" != "v$version" ]; then
    problem "the tag is $tag, but CMakeLists.txt has version $version: its tag is v$version"
  fi
  if ! commit=$(git rev-parse --quiet --verify "refs/tags/$tag^{commit}"); then
    problem "there is no tag $tag: git tag --annotate $tag"
  elif [ "$(git cat-file -t "refs/tags/$tag")" != tag ]; then
    problem "$tag is a lightweight tag, without day and author: git tag --annotate --force $tag $tag"
  elif [ "$commit" != "$(git rev-parse HEAD)" ]; then
    problem "what is checked out is not $tag: git checkout $tag"
  fi
  dated=$(sed -n 's/^## \([0-9.]* (.*)\)$/\1/p' CHANGELOG.md | head -n 1)
  if [[ ! $dated =~ ^"$version"\ \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$ ]]; then
    problem "CHANGELOG.md begins with $dated; a release's line is $version and its day, as in 2026-01-31"
  fi
  if [[ $(head -n 1 debian/changelog) == *') UNRELEASED;'* ]]; then
    problem "debian/changelog begins with UNRELEASED: name the distribution (unstable) and the day"
  fi
  # The header, the recipes and both changelogs have the same version: tidy's rule.
  if ! said=$(python3 -B tests/tidy/tidy.py .); then
    problem "tests/tidy finds: $(head -n 3 <<<"$said" | paste -sd ' ')"
  fi
  for part in wheel package site; do
    if [ ! -e "scripts/$part.sh" ]; then problem "scripts/$part.sh is not there, and makes a part of the release"; fi
  done
  check_placeholders
  check_tools
}

out=dist/$version
tarball=hocket-$version-source.tar.gz # the sdist, other files, is hocket-VERSION.tar.gz
make_tarball() { # the same bytes from the same commit
  say "source"
  git archive --format=tar --prefix="hocket-$version/" "$tag" | gzip -9 --no-name >"$out/$tarball"
}

make_wheel() { # and the sdist; scripts/wheel.sh leaves what else is in dist/
  bash scripts/wheel.sh
  mkdir -p "$out/python"
  mv dist/"hocket-$version"-*.whl "dist/hocket-$version.tar.gz" "$out/python"
}

make_site() {
  bash scripts/site.sh
  tar c --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C build site |
    gzip -9 --no-name >"$out/hocket-$version-site.tar.gz"
}

make_recipes() { # those of packaging/, with the tarball's checksum
  local sum
  sum=$(sha256sum "$out/$tarball" | cut -d' ' -f1)
  mkdir "$out/spack" "$out/conda"
  sed "s/^    version(\"$version\")$/    version(\"$version\", sha256=\"$sum\")/" packaging/spack/package.py \
    >"$out/spack/package.py"
  sed "s|^  path: ../..$|  path: ../$tarball|; s|^  use_gitignore: true$|  sha256: $sum|" \
    packaging/conda/recipe.yaml >"$out/conda/recipe.yaml"
  cp packaging/conda/variants.yaml "$out/conda/"
  grep -q "$sum" "$out/spack/package.py" || die "release: packaging/spack/package.py has no line for version $version"
  grep -q "$sum" "$out/conda/recipe.yaml" || die "release: packaging/conda/recipe.yaml has no source to replace"
}

check
if [ ${#problems[@]} -gt 0 ]; then
  printf 'not ready for %s:\n' "$tag" >&2
  printf '  %s\n' "${problems[@]}" >&2
  exit 1
fi
if [ $dry_run -eq 1 ]; then
  printf 'ready: ./dev release %s would make %s from %s\n' "$tag" "$out" "$(git rev-parse --short HEAD)"
  exit 0
fi
# The day that packages, pages and archives bear.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$tag")
export SOURCE_DATE_EPOCH
rm -rf "$out"
make_wheel
make_tarball
bash scripts/package.sh --output "$out/debian"
make_site
make_recipes
sums=$(cd "$out" && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum)
printf '%s\n' "$sums" >"$out/SHA256SUMS"
cat <<TEXT

$out is complete. Nothing was uploaded. By hand:
  the tag               git push ORIGIN $tag
  to the release        $tarball, SHA256SUMS, debian/*.deb, and the first section of CHANGELOG.md
  to the Python index   python/*
  to the site's server  what is in hocket-$version-site.tar.gz
  to Spack and conda    spack/package.py and conda/, with the address of the tarball in place of its file
TEXT
